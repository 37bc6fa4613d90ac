import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { type DeclaredConfigurationRead, DisplayedConfiguration } from "./configuration-shown.ts";
import { agentOwner, visibleAgent } from "./conditions.ts";

const Declared = z.object({ allowed: z.boolean(), configuration: z.record(z.string(), z.unknown()).nullable() });

/** What may be shown of an agent's declared configuration, for its owner and editors; throws 404, 403. */
export async function readDeclared(
  ctx: Context,
  principal: UserPrincipal,
  agentId: string,
): Promise<z.output<typeof DeclaredConfigurationRead>> {
  const viewer = principal.userId;
  const found = await read(
    ctx,
    Declared,
    sql`select jsonb_build_object('allowed', ${may("edit", viewer, agentOwner)},
      'configuration', a.declared_configuration) as result
    from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (found === null) throw notFound("agent");
  if (!found.allowed) {
    throw new Problem("forbidden", "Only the owner, or an editor of its workspace, may read what was declared.");
  }
  return { agent_id: agentId, declared: displayed(found.configuration ?? {}), self_declared: true };
}

function displayed(configuration: Record<string, unknown>): z.output<typeof DisplayedConfiguration> {
  const fields = Object.entries(DisplayedConfiguration.shape);
  return Object.fromEntries(
    fields.flatMap(([name, schema]) => {
      const { success, data } = schema.safeParse(configuration[name]);
      return success && data !== undefined ? [[name, data]] : [];
    }),
  );
}
