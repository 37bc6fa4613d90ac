import { ok } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import { BOUNDS, GraphqlAnswer, GraphqlRequest } from "./graphql/request.ts";

const GRAPHQL_JSON = "application/graphql-response+json";
const MAX_BODY_BYTES = 64 * 1024;

/** Whether a caller takes the media type of GraphQL's own, which alone lets the status tell of errors. */
function takesGraphqlJson(accept: string | undefined): boolean {
  return (accept ?? "")
    .split(",")
    .some(
      (range) => range.split(";", 1)[0]?.trim().toLowerCase() === GRAPHQL_JSON && !/;\s*q=0(?:\.0*)?\s*$/.test(range),
    );
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
      `\`extensions.code\`. Asked for \`${GRAPHQL_JSON}\`, a refused document is 400; as \`application/json\` it is 200.`,
    auth: "open",
    limit: "read",
    body: GraphqlRequest,
    accepts: { types: [], maxBytes: MAX_BODY_BYTES },
    returns: { 200: GraphqlAnswer, 400: GraphqlAnswer },
    mediaTypes: [GRAPHQL_JSON],
    async handler({ ctx, principal, body, c }) {
      // Only now: an isolate that is never asked a document need not evaluate the whole of GraphQL when it starts.
      const { answer } = await import("./graphql/answer.ts");
      const result = await answer({ ctx, principal }, body);
      if (!takesGraphqlJson(c.req.header("accept"))) return ok(result, { Vary: "Accept" });
      const status = result.data == null ? 400 : 200;
      return { status, body: result, headers: { "Content-Type": GRAPHQL_JSON, Vary: "Accept" } };
    },
  }),
];
