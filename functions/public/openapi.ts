import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const TYPE = "application/json";

export const openapi = [
  route({
    id: "readOpenApi",
    method: "get",
    path: "/openapi.json",
    tag: "Health",
    summary: "This description",
    auth: "none",
    returns: { 200: { type: TYPE, description: "OpenAPI 3.1.0" } },
    async handler({ ctx }) {
      return verbatim(await ctx.openApi(), TYPE, { "Cache-Control": "public, max-age=300" });
    },
  }),
];
