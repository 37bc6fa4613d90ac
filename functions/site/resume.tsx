import { getCookie } from "hono/cookie";
import { REFRESH_COOKIE } from "../../shared/http/cookie-names.ts";
import { claimResumption } from "../../shared/identity/sessions/resume.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { clearSessionCookies } from "../account/cookies.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { holdsTyped, isWorthSending, keptForm, SendAgain } from "./parts/kept-form.tsx";
import { localPath, RESUME_PATH, withNext } from "./parts/paths.ts";
import { showProblem } from "./parts/problem.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

/**
 * Replaces the refresh credential and goes back to the page, with the form where one was sent. Without a credential that
 * holds, the visitor signs in, and sends the form again; an `open` page is left to tell whether a stranger may see it.
 */
async function resume({ ctx, c, query, form, api }: Visit): Promise<Response> {
  const next = localPath(query.get("next"));
  const signIn = () => {
    if (holdsTyped(form)) return keptForm(c, next, form);
    if (!query.has("open")) return sendTo(c, withNext("/sign-in", next));
    clearSessionCookies(c, ctx.env);
    return sendTo(c, next);
  };
  const token = getCookie(c, REFRESH_COOKIE);
  if (token === undefined) return signIn();
  if (!(await claimResumption(ctx, token))) {
    // A page is opened again by itself; what was typed is sent by whoever typed it.
    if (form.size === 0) c.header("Refresh", `1; url=${next}`);
    return personal(
      c,
      <Layout title="One moment">
        <h1>One moment</h1>
        {form.size === 0 ? (
          <p>
            Your session is being taken up again. Then the page opens by itself, or <a href={next}>open it now</a>.
          </p>
        ) : (
          <>
            <p>Your session is being taken up again by another page of yours. Nothing that you typed is lost.</p>
            <SendAgain next={next} form={form} />
          </>
        )}
      </Layout>,
    );
  }
  try {
    await api.send("POST", "/api/v1/auth/refresh");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Under the interface's paths problems are told to programs, and this is a person.
    if (error.code !== "invalid_refresh")
      return showProblem(error, ctx, c, isWorthSending(form) ? { next, form } : undefined);
    return signIn();
  }
  c.header("Cache-Control", "no-store");
  return c.redirect(next, c.req.method === "POST" ? 307 : 303);
}

export const resumePages: readonly View[] = [
  view({ path: RESUME_PATH, title: "Takes a browser's session up again", show: resume, take: resume }),
];
