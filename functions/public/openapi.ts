import { openApi } from "../../shared/http/openapi.ts";
import { ok } from "../../shared/http/reply.ts";
import { route, type Route } from "../../shared/http/route.ts";

/** The endpoint that publishes the description of all others. */
export function openapi(others: readonly Route[]): Route[] {
  let made: { base: string; document: Record<string, unknown> } | undefined;
  const self: Route = route({
    id: "readOpenApi",
    method: "get",
    path: "/openapi.json",
    tag: "Health",
    summary: "This description",
    auth: "none",
    returns: { 200: { type: "application/json", description: "OpenAPI 3.1.0" } },
    handler({ ctx }) {
      const base = ctx.env.BASE_URL;
      if (made?.base !== base) made = { base, document: openApi([...others, self], base) };
      return ok(made.document, { "Cache-Control": "public, max-age=300" });
    },
  });
  return [self];
}
