import * as z from "zod";
import { sealHeader } from "../agents/auth-header.ts";
import { assertCallable } from "../agents/endpoint.ts";
import { AgentCreate } from "../agents/schemas.ts";
import type { Sending } from "./call.ts";
import { type Probe, probe } from "./probe.ts";

export const ConnectionTest = z
  .strictObject({
    endpoint: AgentCreate.shape.endpoint.unwrap(),
    agent_protocol: AgentCreate.shape.agent_protocol,
    auth_header: AgentCreate.shape.auth_header,
  })
  .meta({ id: "ConnectionTest" });

/** Tries an endpoint that need not belong to an agent yet, and keeps nothing; throws `endpoint_not_allowed`, `ResolverFault`. */
export async function testConnection(ctx: Sending["ctx"], input: z.output<typeof ConnectionTest>): Promise<Probe> {
  const endpoint = await assertCallable(ctx, input.endpoint, "/endpoint");
  const auth_header = input.auth_header === undefined ? null : sealHeader(input.auth_header, ctx.env);
  return probe(ctx, { endpoint, agent_protocol: input.agent_protocol ?? "native", auth_header });
}
