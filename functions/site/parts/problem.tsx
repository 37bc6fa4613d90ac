import type { Context as HonoContext } from "hono";
import { problemResponse } from "../../../shared/http/problems.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { notFound, PROBLEMS, type Problem } from "../../../shared/platform/problem.ts";
import { documentOf, Layout } from "../layout.tsx";
import { PAGE_HEADERS } from "../style.ts";
import { KEY } from "./form.tsx";
import { SendAgain } from "./kept-form.tsx";
import { headOf } from "./signed-in.ts";

/** What people are told of problems whose own words are for programs: a heading, and what it means. */
const IN_WORDS: Partial<Record<Problem["code"], readonly [heading: string, told: string]>> = {
  not_found: ["There is nothing here", "The address is wrong, or what was here is gone, or not for you to see."],
  idempotency_in_progress: [
    "It is being done already",
    "This form was sent before, and that goes on. Send it again in a moment to see what came of it.",
  ],
};

/**
 * A problem as a page: what it is, and what to do next. Of our own failures it says nothing but how to name them to us. Its
 * head goes by the visitor's cookie alone, since whatever else tells of a session may be what has failed. With `sent`, a form
 * and the page that it was sent to, it can be sent once more from here.
 */
export async function showProblem(
  found: Problem,
  ctx: Context,
  c: HonoContext,
  sent?: Parameters<typeof SendAgain>[0],
): Promise<Response> {
  const problem = isOfAddress(found) ? notFound("page") : found;
  const [status, title] = PROBLEMS[problem.code];
  const [heading, told] = IN_WORDS[problem.code] ?? [title, problem.message];
  const markup = (
    <Layout title={title} {...headOf(c)}>
      <h1>{heading}</h1>
      <p>{told}</p>
      {sent !== undefined && (
        <>
          <p>
            Nothing that you typed is lost: it is on this page.
            {sent.form.has(KEY) && " Sent again from here it is done once, even if it was done before."}
          </p>
          <SendAgain {...sent} />
        </>
      )}
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

/** Whether nothing is wrong but an id in the address: as when a link was cut off, which people don't tell from one to nothing. */
function isOfAddress({ code, extras: { errors = [] } }: Problem): boolean {
  return code === "validation_failed" && errors.length > 0 && errors.every(({ in: part }) => part === "path");
}
