import { sql } from "drizzle-orm";
import * as z from "zod";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { type DnsResolver, ResolverFault } from "../platform/outbound/resolve.ts";
import { type Finding, Problem } from "../platform/problem.ts";
import { refusal } from "./create.ts";
import { checkInput, insertAgents, type NewAgent, type Placed } from "./insert.ts";
import type { AgentBulkResult, AgentCreate } from "./schemas.ts";

/** A row as it is to be made, or what is wrong with it. */
export type BulkRow = z.output<typeof AgentCreate> | { errors: Finding[] };

type Result = z.output<typeof AgentBulkResult>;

/**
 * Makes up to 100 agents in one statement, as if one after the other: rows that are invalid, exceed the plan's limit or
 * have a name that is taken (also by an earlier row) are reported and skipped; the others are made.
 */
export async function createAgents(ctx: Context, principal: UserPrincipal, rows: readonly BulkRow[]): Promise<Result> {
  const dns = { env: ctx.env, resolver: askingOnce(ctx.resolver) };
  const checked = await Promise.all(rows.map((row) => checkRow(dns, row)));
  const placed = await insertAgents(ctx, principal, checked, sql`to_jsonb(a.id)`);
  const results = placed.map(toResult);
  const count = (...statuses: string[]): number => results.filter(({ status }) => statuses.includes(status)).length;
  return {
    results,
    created: count("created"),
    skipped: count("skipped_duplicate"),
    failed: count("invalid", "quota_exceeded"),
  };
}

/** A resolver that asks once for each name and type: rows often share a host. */
function askingOnce(resolver: DnsResolver): DnsResolver {
  const asked = new Map<string, Promise<readonly string[]>>();
  return {
    query(hostname, type, signal) {
      const key = `${type} ${hostname}`;
      const answer = asked.get(key) ?? resolver.query(hostname, type, signal);
      asked.set(key, answer);
      return answer;
    },
  };
}

async function checkRow(
  dns: Pick<Context, "env" | "resolver">,
  row: BulkRow,
): Promise<NewAgent | { errors: Finding[] }> {
  if ("errors" in row) return row;
  try {
    return await checkInput(dns, row);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { errors: findingsOf(error, error instanceof ResolverFault ? "" : "/connection_mode") };
  }
}

/** The findings of a problem; one without findings of its own is about the field at `pointer`. */
function findingsOf({ code, message, extras }: Problem, pointer: string): Finding[] {
  return extras.errors ?? [{ in: "body", pointer, code, message }];
}

const AgentId = z.uuid();

function toResult(placed: Placed, index: number): Result["results"][number] {
  const { outcome } = placed;
  if (outcome === "created") return { index, status: "created", agent_id: AgentId.parse(placed.agent) };
  if (outcome === "invalid") return { index, status: "invalid", errors: placed.errors };
  if (outcome === "duplicate") return { index, status: "skipped_duplicate" };
  if (outcome === "quota") return { index, status: "quota_exceeded" };
  return { index, status: "invalid", errors: findingsOf(refusal(placed), "/team_id") };
}
