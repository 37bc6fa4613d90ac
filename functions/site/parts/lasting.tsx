import type { Reply } from "../../../shared/http/reply.ts";
import { page } from "../layout.tsx";

/** A page that is the same for everybody until the next deployment; browsers ask for it again after five minutes. */
export function lasting(markup: unknown): Reply {
  const reply = page(markup);
  return { ...reply, headers: { ...reply.headers, "Cache-Control": "public, max-age=300" } };
}
