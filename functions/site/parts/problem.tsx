import type { Context as HonoContext } from "hono";
import { problemResponse } from "../../../shared/http/problems.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { PROBLEMS, type Problem } from "../../../shared/platform/problem.ts";
import { documentOf, Layout } from "../layout.tsx";
import { PAGE_HEADERS } from "../style.ts";
import { isSignedIn } from "./signed-in.ts";

/**
 * A problem as a page: what it is, and what to do next. Of our own failures it says nothing but how to name them to us. Its
 * head goes by the visitor's cookie alone, since whatever else tells of a session may be what has failed.
 */
export async function showProblem(problem: Problem, ctx: Context, c: HonoContext): Promise<Response> {
  const [status, title] = PROBLEMS[problem.code];
  const missing = problem.code === "not_found";
  const markup = (
    <Layout title={title} {...(isSignedIn(c) ? { own: "" } : {})}>
      <h1>{missing ? "There is nothing here" : title}</h1>
      <p>{missing ? "The address is wrong, or what was here is gone, or not for you to see." : problem.message}</p>
      <p>
        The <a href="/">board</a> shows every public agent, <a href="/home">your own</a> are on a page of yours.
      </p>
      {status >= 500 && (
        <p class="mute">
          Request <code>{ctx.requestId}</code>
        </p>
      )}
    </Layout>
  );
  const { headers } = problemResponse(problem, ctx);
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value);
  return new Response(documentOf(markup), { status, headers });
}
