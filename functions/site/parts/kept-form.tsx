import type { Context as HonoContext } from "hono";
import { Layout, personal } from "../layout.tsx";
import { KEY } from "./form.tsx";
import { withNext } from "./paths.ts";
import { ACCOUNT } from "./signed-in.ts";

/** What a form sends besides what was typed: its own key, whose it is, what it is about, and which button was pressed. */
const UNTYPED = new Set([KEY, ACCOUNT, "id", "do"]);

/** Whether there is anything in a form that its sender would have to type again. */
export function holdsTyped(form: URLSearchParams): boolean {
  return [...form.keys()].some((name) => !UNTYPED.has(name));
}

/** Whether a form has to be sent as it is: what was typed would be lost, or another of its kind would do the same once more. */
export function isWorthSending(form: URLSearchParams): boolean {
  return holdsTyped(form) || form.has(KEY);
}

/** A button that sends a form once more as it was typed; nothing of it is seen. */
export function SendAgain({ next, form }: { next: string; form: URLSearchParams }) {
  return (
    <form method="post" action={next}>
      {[...form].map(([name, value]) => (
        <textarea hidden name={name}>{`\n${value}`}</textarea>
      ))}
      <p>
        <button type="submit">Send it again</button>
      </p>
    </form>
  );
}

/**
 * A form that came without a session in force, with what was typed, to be sent again after a sign-in in another tab: the answer
 * to whoever sent it, so that nothing in it gets lost. `next` is the page that it was sent to.
 */
export function keptForm(c: HonoContext, next: string, form: URLSearchParams): Response {
  return personal(
    c,
    <Layout title="Your session has ended">
      <h1>Your session has ended</h1>
      <p>Nothing was changed, and nothing that you typed is lost: it is on this page.</p>
      <ol>
        <li>
          <a href={withNext("/sign-in", "/home")} target="_blank" rel="noopener">
            Sign in, in another tab
          </a>
        </li>
        <li>
          Come back to this one, and send what you typed:
          <SendAgain next={next} form={form} />
        </li>
      </ol>
    </Layout>,
    401,
  );
}
