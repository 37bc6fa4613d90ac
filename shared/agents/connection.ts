import type * as z from "zod";
import { RETIRED_MODES } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, Problem } from "../platform/problem.ts";
import { assertCallable } from "./endpoint.ts";
import type { AgentCreate } from "./schemas.ts";

type Mode = z.output<typeof AgentCreate>["connection_mode"];

/** The answer to every use of an agent in a retired mode, with the way back. */
export function retired(): Problem {
  return new Problem(
    "provider_custody_retired",
    "The service keeps no provider credentials any more. PATCH the agent with clear_customer_llm_key true, then set " +
      "connection_mode to http_endpoint with a live https endpoint.",
  );
}

/** The 409 for every use of an agent that is turned off. */
export function inactive(): Problem {
  return new Problem("agent_inactive", "This agent is deactivated; activate it first.");
}

/** Whether a mode is one of those under which the service kept provider credentials. */
export function isRetired(mode: Mode): mode is (typeof RETIRED_MODES)[number] {
  return RETIRED_MODES.some((retiredMode) => retiredMode === mode);
}

/** URLs of an agent that the service calls. */
interface Urls {
  endpoint?: string | null | undefined;
  provider_url?: string | null | undefined;
  manifest_url?: string | null | undefined;
}

/** The input with its URLs in their normal form; throws `endpoint_not_allowed` at the first that may not be called. */
export async function checkUrls<T extends Urls>(ctx: Pick<Context, "env" | "resolver">, input: T): Promise<T> {
  const checked = { ...input };
  for (const field of ["endpoint", "provider_url", "manifest_url"] as const) {
    const raw = input[field];
    if (typeof raw === "string") checked[field] = await assertCallable(ctx, raw, `/${field}`);
  }
  return checked;
}

/** The mode that an input asks for; throws 410 for a retired one, 422 for `http_endpoint` without an endpoint. */
export function modeOf({
  connection_mode: asked,
  endpoint,
}: {
  connection_mode?: Mode | undefined;
  endpoint?: string | null | undefined;
}): "http_endpoint" | "mock" {
  if (isRetired(asked)) throw retired();
  const mode = asked ?? (endpoint == null ? "mock" : "http_endpoint");
  if (mode === "http_endpoint" && endpoint == null) throw noEndpoint();
  return mode;
}

/** The 422 for `http_endpoint` without an endpoint. */
export function noEndpoint(): Problem {
  return bodyProblem("validation_failed", "/endpoint", "The mode http_endpoint needs an endpoint; send one with it.");
}
