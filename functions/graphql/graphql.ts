import type { Context as HonoContext } from "hono";
import { preferred } from "../../shared/http/accept.ts";
import { route } from "../../shared/http/route.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { BOUNDS, GraphqlAnswer, GraphqlRequest } from "./request.ts";

const JSON_TYPE = "application/json";
const GRAPHQL_JSON = "application/graphql-response+json";
const MAX_BODY_BYTES = 64 * 1024;

/** The media type that a caller wants the answer in: plain JSON where any will do. Throws `not_acceptable`. */
function answerType(c: HonoContext): string {
  const type = preferred(c, [JSON_TYPE, GRAPHQL_JSON]);
  if (type !== null) return type;
  throw new Problem("not_acceptable", `GraphQL is answered as ${GRAPHQL_JSON} or ${JSON_TYPE}; accept one of them.`);
}

export const graphql = [
  route({
    id: "queryGraphql",
    method: "post",
    path: "/graphql",
    tag: "GraphQL",
    summary: "Query agents, board, tasks and frontier by GraphQL",
    description:
      "GraphQL over HTTP: queries only, one document a request, introspection included. Its agents are narrower than " +
      "AgentRead: owners find no more here than others. A document may have " +
      `${BOUNDS.tokens} tokens, ${BOUNDS.depth} levels, ${BOUNDS.aliases} aliases, ${BOUNDS.directives} directives and ` +
      `a cost of ${BOUNDS.cost}: fields times the sizes of the pages around them. Errors carry the code of a problem as ` +
      `\`extensions.code\`. Asked for \`${GRAPHQL_JSON}\`, a refused document is 400; as \`${JSON_TYPE}\`, which is ` +
      "sent unless the other is asked for, it is 200. A body that is not a GraphQL request is a problem, 400 in either case.",
    auth: "open",
    subject: "agents",
    limit: "read",
    body: GraphqlRequest,
    accepts: { types: [], maxBytes: MAX_BODY_BYTES, invalid: "invalid_graphql_request" },
    returns: { 200: GraphqlAnswer, 400: GraphqlAnswer },
    mediaTypes: [GRAPHQL_JSON],
    problems: ["not_acceptable"],
    async handler({ ctx, principal, body, c }) {
      const type = answerType(c);
      // Imported here, so that an isolate that gets no document does not evaluate all of GraphQL when it starts.
      const { answer } = await import("./answer.ts");
      const result = await answer({ ctx, principal }, body);
      const status = type === GRAPHQL_JSON && result.data === undefined ? 400 : 200;
      return { status, body: result, headers: { "Content-Type": type, Vary: "Accept" } };
    },
  }),
];
