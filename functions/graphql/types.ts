import type * as z from "zod";
import { toMemorisation } from "../../shared/agents/memorisation.ts";
import { AgentRow } from "../../shared/agents/view.ts";
import type { SuiteRead, TaskRead } from "../../shared/catalogue/shown.ts";
import type { LeaderboardRow } from "../../shared/board/shown.ts";
import type { FrontierRead } from "../../shared/board/frontier.ts";
import { AgentStats } from "../../shared/results/stats.ts";
import type { MemorisationGap } from "../../shared/scoring/memorisation.ts";
import { builder, Domain, RegistryStatus, RunStatus, ScoreBasis, VerifiedState } from "./builder.ts";

/** An agent as its GraphQL type reads it; the record is there where the document selects it. */
export const RecordedAgent = AgentRow.extend({ stats: AgentStats.optional() });
export type Agent = z.output<typeof RecordedAgent>;

interface Page<T> {
  items: T[];
  total: number;
  page: number;
  page_size: number;
}

type Stats = z.output<typeof AgentStats>;
type Frontier = z.input<typeof FrontierRead>;

/** What each agent's record costs against the bound on a document: it is computed over all of the agent's runs. */
const STATS_COST = 10;
const RECENT_RUNS = 10;

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;

const TaskRecord = builder.objectRef<NonNullable<Stats["best_task"]>>("TaskRecord").implement({
  fields: (t) => ({
    taskId: t.exposeID("task_id"),
    title: t.exposeString("title"),
    passRate: t.exposeFloat("pass_rate"),
  }),
});

const Run = builder.objectRef<Stats["recent_runs"][number]>("Run").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    taskId: t.exposeID("task_id"),
    status: t.expose("status", { type: RunStatus }),
    simulated: t.exposeBoolean("simulated"),
    passed: t.exposeBoolean("passed", { nullable: true }),
    correctness: t.exposeFloat("correctness", { nullable: true }),
    latencyMs: t.exposeInt("latency_ms", { nullable: true }),
    evidenceCostUsd: t.exposeFloat("evidence_cost_usd", { nullable: true }),
    evidenceCostFloorApplied: t.exposeBoolean("evidence_cost_floor_applied", {
      description: "A call was reported below its floor, and is taken at that",
    }),
    evidenceSigned: t.exposeBoolean("evidence_signed"),
    canary: t.exposeBoolean("canary", {
      nullable: true,
      description: "Asked the published sample and not counted; null while its session is not final",
    }),
    isPrivate: t.exposeBoolean("is_private", { description: "Shown to few, and counted for nothing" }),
    createdAt: t.expose("created_at", { type: "DateTime" }),
    finalizedAt: t.expose("finalized_at", { type: "DateTime", nullable: true }),
  }),
});

const StatsType = builder.objectRef<Stats>("AgentStats").implement({
  description:
    "Over the runs that the caller may see; canaries, and runs that failed by the service's fault, are left out.",
  fields: (t) => ({
    simulated: t.exposeBoolean("simulated", {
      description: "Whether these are simulated runs: they are left out once a real one has ended",
    }),
    totalRuns: t.exposeInt("total_runs"),
    successfulRuns: t.exposeInt("successful_runs"),
    failedRuns: t.exposeInt("failed_runs"),
    avgLatencyMs: t.exposeInt("avg_latency_ms", { nullable: true }),
    avgCostUsd: t.exposeFloat("avg_cost_usd", { nullable: true }),
    bestTask: t.expose("best_task", { type: TaskRecord, nullable: true }),
    worstTask: t.expose("worst_task", { type: TaskRecord, nullable: true }),
    recentRuns: t.expose("recent_runs", {
      type: [Run],
      description: "At most 10, newest first; to an API key without `runs:read` those that everybody sees",
      extensions: { cost: RECENT_RUNS },
    }),
  }),
});

const GapType = builder.objectRef<MemorisationGap>("MemorisationGap").implement({
  description: "The pass rate of canaries, which are asked the published sample, minus that of scored runs",
  fields: (t) => ({
    value: t.exposeFloat("value"),
    low: t.exposeFloat("low", { description: "Lower end of the 95% interval, clustered by task" }),
    high: t.exposeFloat("high"),
    canaryRuns: t.exposeInt("canary_runs"),
  }),
});

const GAP = "Null under 20 canaries";
const MEMORISED = "The interval of the gap lies above 0.1: the samples were learned by heart";

export const AgentType = builder.objectRef<Agent>("Agent").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    description: t.exposeString("description"),
    hasEndpoint: t.exposeBoolean("has_endpoint", { description: "Whether it can be run live now" }),
    connectionRetired: t.exposeBoolean("connection_retired"),
    verifiedState: t.expose("verified_state", { type: VerifiedState }),
    compositeScore: t.float({
      description: "0 to 100; 0 until a run counts",
      resolve: ({ board }) => board?.composite_score ?? 0,
    }),
    simulated: t.boolean({
      description: "Whether that is of simulated runs alone, without a call of the agent",
      resolve: ({ board }) => board?.tier === 2,
    }),
    scoreBasis: t.field({
      type: ScoreBasis,
      nullable: true,
      description: "Whether that is over the core tasks, or provisional; null until a run counts",
      resolve: ({ board }) => (board === null ? null : board.tier === 0 ? "core" : "provisional"),
    }),
    memorisationGap: t.field({
      type: GapType,
      nullable: true,
      description: GAP,
      resolve: ({ sums }) => toMemorisation(sums).memorisation_gap,
    }),
    memorised: t.boolean({ description: MEMORISED, resolve: ({ sums }) => toMemorisation(sums).memorised }),
    uneven: t.boolean({
      description: "Some core tasks were asked more often than others",
      resolve: ({ board }) => board?.uneven ?? false,
    }),
    registryStatus: t.expose("registry_status", { type: RegistryStatus }),
    isPublic: t.exposeBoolean("is_public"),
    variantOf: t.exposeID("variant_of", { nullable: true }),
    stats: t.field({
      type: StatsType,
      extensions: { cost: STATS_COST },
      resolve: ({ stats }) => {
        if (stats === undefined) throw new Error("an agent's record is read with the agent");
        return stats;
      },
    }),
  }),
});

const AxesType = builder.objectRef<z.output<typeof LeaderboardRow>["axes"]>("Axes").implement({
  description: "0 to 1; null without evidence",
  fields: (t) => ({
    correctness: t.exposeFloat("correctness", { nullable: true }),
    latency: t.exposeFloat("latency", { nullable: true }),
    cost: t.exposeFloat("cost", { nullable: true }),
    toolEfficiency: t.exposeFloat("tool_efficiency", { nullable: true }),
    robustness: t.exposeFloat("robustness", { nullable: true }),
  }),
});

const LeaderboardRowType = builder.objectRef<z.output<typeof LeaderboardRow>>("LeaderboardRow").implement({
  fields: (t) => ({
    rank: t.exposeInt("rank", { nullable: true, description: "Null for provisional and simulated agents" }),
    rankLow: t.exposeInt("rank_low", {
      nullable: true,
      description: "First place that the interval does not rule out",
    }),
    rankHigh: t.exposeInt("rank_high", {
      nullable: true,
      description: "Last place that the interval does not rule out",
    }),
    agentId: t.exposeID("agent_id"),
    name: t.exposeString("name"),
    verifiedState: t.expose("verified_state", { type: VerifiedState }),
    simulated: t.exposeBoolean("simulated"),
    scoreBasis: t.expose("score_basis", { type: ScoreBasis }),
    compositeScore: t.exposeFloat("composite_score"),
    scoreLow: t.exposeFloat("score_low", { description: "Lower end of the 95% interval, clustered by task" }),
    scoreHigh: t.exposeFloat("score_high"),
    successRate: t.exposeFloat("success_rate"),
    reliability: t.exposeFloat("reliability"),
    costEfficiency: t.exposeFloat("cost_efficiency", { description: "Costs are reported by the agents themselves" }),
    evidenceCostFloorApplied: t.exposeBoolean("evidence_cost_floor_applied", {
      description: "A run's cost was reported below its floor, and is taken at that",
    }),
    memorisationGap: t.expose("memorisation_gap", { type: GapType, nullable: true, description: GAP }),
    memorised: t.exposeBoolean("memorised", { description: MEMORISED }),
    axes: t.expose("axes", { type: AxesType }),
    runs: t.exposeInt("runs"),
    tasks: t.exposeInt("tasks"),
    askedRuns: t.exposeInt("asked_runs", {
      nullable: true,
      description: "How many runs of these tasks it was asked at their current version; null unless it is ranked",
    }),
    uneven: t.exposeBoolean("uneven", { description: "Some of these tasks were asked more often than others" }),
    variants: t.exposeInt("variants", { description: "How many variants the root of its group has" }),
    lastRunAt: t.expose("last_run_at", { type: "DateTime" }),
  }),
});

const TemplateType = builder.objectRef<NonNullable<z.input<typeof TaskRead>["template"]>>("Template").implement({
  description: "What the instances of a minted task are drawn from",
  fields: (t) => ({ id: t.exposeID("id"), version: t.exposeInt("version") }),
});

export const TaskType = builder.objectRef<z.input<typeof TaskRead>>("Task").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    title: t.exposeString("title"),
    domain: t.expose("domain", { type: Domain }),
    instances: t.exposeString("instances", {
      description: "`fixed`, or `minted`: then each run gets an instance of its own, and the sample is shown",
    }),
    template: t.expose("template", { type: TemplateType, nullable: true, description: "Null for a fixed task" }),
    prompt: t.exposeString("prompt", { nullable: true, description: "Null for a secret task" }),
    input: t.expose("input", { type: "JSON", nullable: true }),
    outputFormat: t.exposeString("output_format"),
    outputSchema: t.expose("output_schema", { type: "JSON", nullable: true }),
    tools: t.expose("tools", { type: "JSON", nullable: true }),
    graderType: t.exposeString("grader_type"),
    suiteId: t.exposeID("suite_id", { nullable: true }),
    suiteVersion: t.exposeInt("suite_version"),
    isActive: t.exposeBoolean("is_active"),
    isSecret: t.exposeBoolean("is_secret"),
    timeLimitMs: t.exposeInt("time_limit_ms"),
    referenceCostUsd: t.exposeFloat("reference_cost_usd"),
    referenceLatencyMs: t.exposeInt("reference_latency_ms"),
    expectedToolCalls: t.exposeInt("expected_tool_calls", { nullable: true }),
    passThreshold: t.exposeFloat("pass_threshold"),
    createdAt: t.expose("created_at", { type: "DateTime" }),
  }),
});

export const SuiteType = builder.objectRef<z.input<typeof SuiteRead>>("Suite").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    slug: t.exposeString("slug"),
    name: t.exposeString("name"),
    description: t.exposeString("description"),
    version: t.exposeInt("version"),
    isSecret: t.exposeBoolean("is_secret"),
    taskCount: t.exposeInt("task_count", { description: "Active tasks" }),
    domains: t.expose("domains", { type: [Domain] }),
  }),
});

const PassK = builder.objectRef<Frontier["members"][number]["pass_k"]>("PassK").implement({
  description: "pass^k: the chance that k runs of a task all pass; null without a task of k runs",
  fields: (t) => ({
    k1: t.float({ nullable: true, resolve: (pass) => pass["1"] }),
    k2: t.float({ nullable: true, resolve: (pass) => pass["2"] }),
    k3: t.float({ nullable: true, resolve: (pass) => pass["3"] }),
    k5: t.float({ nullable: true, resolve: (pass) => pass["5"] }),
  }),
});

const Member = builder.objectRef<Frontier["members"][number]>("FrontierMember").implement({
  fields: (t) => ({
    agentId: t.exposeID("agent_id"),
    name: t.exposeString("name"),
    isRoot: t.exposeBoolean("is_root"),
    isHired: t.exposeBoolean("is_hired", { description: "A copy that was bought, and may have been changed" }),
    passRate: t.exposeFloat("pass_rate", { nullable: true }),
    passK: t.expose("pass_k", { type: PassK }),
    meanCostPerTaskUsd: t.exposeFloat("mean_cost_per_task_usd", { nullable: true }),
    pricedRuns: t.exposeInt("priced_runs", { description: "Of how many of the runs that cost is known" }),
    provenance: t.exposeString("provenance", { description: "real, simulated or none" }),
    model: t.exposeString("model", { nullable: true }),
    runs: t.exposeInt("runs"),
    onFrontier: t.exposeBoolean("on_frontier", { description: "Pareto-optimal in pass rate and cost" }),
  }),
});

export const FrontierType = builder.objectRef<Frontier>("Frontier").implement({
  fields: (t) => ({
    rootId: t.exposeID("root_id"),
    isCapped: t.exposeBoolean("is_capped"),
    members: t.expose("members", { type: [Member] }),
  }),
});

export const AgentPage = builder.objectRef<Page<Agent>>("AgentPage").implement({
  fields: (t) => ({ items: t.expose("items", { type: [AgentType] }), ...pageFields(t) }),
});

export const LeaderboardPage = builder.objectRef<Page<z.output<typeof LeaderboardRow>>>("LeaderboardPage").implement({
  fields: (t) => ({ items: t.expose("items", { type: [LeaderboardRowType] }), ...pageFields(t) }),
});

export const TaskPage = builder.objectRef<Page<z.input<typeof TaskRead>>>("TaskPage").implement({
  fields: (t) => ({ items: t.expose("items", { type: [TaskType] }), ...pageFields(t) }),
});

/** The fields of every page besides its items. */
function pageFields<T>(t: PothosSchemaTypes.ObjectFieldBuilder<Types, Page<T>>) {
  return { total: t.exposeInt("total"), page: t.exposeInt("page"), pageSize: t.exposeInt("page_size") };
}
