import type { Exchange } from "../platform/outbound/exchange.ts";
import { parseJsonBounded } from "../platform/outbound/json.ts";
import type { Job } from "./job.ts";
import type { Protocol } from "./protocols/protocol.ts";

/** How long an answer may be that refuses the form of a request, in bytes: it is read beside what follows. */
const MAX_REFUSAL_BYTES = 16_384;

/** The body that asks once more what an agent refused for the form in which it was asked; null where it did nothing of the kind. */
export function otherForm(result: Exchange, { inOtherForm }: Protocol, job: Job): string | null {
  if (inOtherForm === undefined || !result.ok || result.body.length > MAX_REFUSAL_BYTES) return null;
  const json = parseJsonBounded(new TextDecoder().decode(result.body));
  const other = json.ok ? inOtherForm(json.value, job) : null;
  return other === null ? null : JSON.stringify(other);
}
