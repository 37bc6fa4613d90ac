import { openApi } from "../shared/http/openapi.ts";
import { route, type Route } from "../shared/http/route.ts";

/** The endpoint that publishes the description of all others. */
export function openapi(others: readonly Route[]): Route[] {
  let text: string | undefined;
  const self: Route = route({
    id: "readOpenApi",
    method: "get",
    path: "/openapi.json",
    tag: "Health",
    summary: "This description",
    auth: "none",
    returns: { 200: { type: "application/json", description: "OpenAPI 3.1.0" } },
    handler({ ctx }) {
      text ??= JSON.stringify(openApi([...others, self], ctx.env.BASE_URL));
      return new Response(text, {
        headers: { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" },
      });
    },
  });
  return [self];
}
