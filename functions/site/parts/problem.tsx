import { problemResponse } from "../../../shared/http/problems.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { PROBLEMS, type Problem } from "../../../shared/platform/problem.ts";
import { documentOf, Layout } from "../layout.tsx";
import { PAGE_HEADERS } from "../style.ts";

/** A problem as a page: what it is, and what to do next. Of our own failures it says nothing but how to name them to us. */
export async function showProblem(problem: Problem, ctx: Context): Promise<Response> {
  const [status, title] = PROBLEMS[problem.code];
  const missing = problem.code === "not_found";
  const markup = (
    <Layout title={title}>
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
