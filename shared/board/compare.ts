import * as z from "zod";
import { TaskDomain } from "../catalogue/domains.ts";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, Problem } from "../platform/problem.ts";
import { paired, pairsOf } from "../scoring/mcnemar.ts";
import { pairedShape, sideMarks, sideRate } from "../agents/paired.ts";
import { compareAll } from "./compare-all.ts";
import { type Passes, readPasses } from "./passes.ts";

/** The most agents that are compared at once: 45 pairs. */
const MOST = 10;

const distinct = (ids: readonly (string | undefined)[]) => new Set(ids.map((id) => id?.toLowerCase())).size;

/** Which agents are compared, and over which tasks. */
export const comparisonQuery = z
  .object({
    a: z.uuid().optional().meta({ description: "An agent's id; needed without `agent_ids`" }),
    b: z.uuid().optional().meta({ description: "Another agent's id; needed without `agent_ids`" }),
    agent_ids: z
      .string()
      .transform((ids) => ids.split(","))
      .pipe(z.array(z.uuid()).min(2).max(MOST))
      .refine((ids) => distinct(ids) === ids.length, {
        message: "Name each agent once.",
        params: { code: "not_unique" },
      })
      .optional()
      .meta({ description: `Ids of 2 to ${MOST} agents, with commas between, in place of \`a\` and \`b\`` }),
    domain: TaskDomain.optional().meta({ description: "Over the tasks of this domain alone" }),
  })
  .refine(({ a, b }) => a === undefined || distinct([a, b]) === 2, {
    path: ["b"],
    message: "Name two different agents.",
    params: { code: "not_unique" },
  });

const Side = z.object({
  agent_id: z.uuid(),
  name: z.string(),
  success_rate: sideRate,
  ...sideMarks,
});

export const AgentComparison = z
  .object({
    a: Side,
    b: Side,
    tasks: z.int().meta({ description: "Tasks at which both agents have scored real runs" }),
    ...pairedShape,
  })
  .meta({ id: "AgentComparison" });

/**
 * Compares two agents, or all of `agent_ids` with each other, over the tasks at which both have scored runs. Throws 404
 * unless all are visible, 422 where it is not said which ones.
 */
export async function compareAgents(
  ctx: Context,
  principal: Principal,
  { a, b, agent_ids: ids, domain }: z.output<typeof comparisonQuery>,
): Promise<z.output<typeof AgentComparison> | Awaited<ReturnType<typeof compareAll>>> {
  if (ids !== undefined) {
    if (a !== undefined || b !== undefined) throw conflicting(["agent_ids", a === undefined ? "b" : "a"]);
    return compareAll(ids, await readPasses(ctx, principal, ids, domain));
  }
  if (a === undefined || b === undefined) throw missing({ a, b });
  const [one, other] = await readPasses(ctx, principal, [a, b], domain);
  if (one === undefined || other === undefined) throw new Error("fewer tallies than agents");
  const { success_rate_a, success_rate_b, ...comparison } = paired(pairsOf(one.tallies, other.tallies));
  return {
    a: sideOf(a, one, success_rate_a),
    b: sideOf(b, other, success_rate_b),
    ...comparison,
  };
}

function sideOf(agent_id: string, { name, memorised, uneven }: Passes, success_rate: number | null) {
  return { agent_id, name, success_rate, memorised, uneven };
}

function missing(agents: Record<string, string | undefined>): Problem {
  const names = Object.keys(agents).filter((name) => agents[name] === undefined);
  const message = "This field is required.";
  return new Problem("validation_failed", names.map((name) => `/${name}: ${message}`).join("; "), {
    errors: names.map((name) => ({ in: "query", pointer: `/${name}`, code: "missing_field", message })),
  });
}
