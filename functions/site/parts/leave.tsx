import type { Context as HonoContext } from "hono";
import { Layout, personal } from "../layout.tsx";

/**
 * Sends the browser to a page of another site. No redirect may do that: it would be the form's, and the policy keeps forms
 * on this site.
 */
export function leaveTo(c: HonoContext, url: string, where: string): Response {
  c.header("Refresh", `0; url=${url}`);
  return personal(
    c,
    <Layout title={`On to ${where}`} own="">
      <h1>On to {where}</h1>
      <p>The page opens by itself, on the site of our payment provider.</p>
      <p>
        <a class="button" href={url} rel="external">
          Open it now
        </a>
      </p>
    </Layout>,
  );
}
