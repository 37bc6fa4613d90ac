import * as z from "zod";
import { AgentRead, Protocol } from "../../shared/agents/shown.ts";
import { boardQuery, LeaderboardRow } from "../../shared/board/shown.ts";
import { AgentComparisons } from "../../shared/board/compare-all.ts";
import { DOMAINS } from "../../shared/catalogue/domains.ts";
import { SuiteRead, TaskRead } from "../../shared/catalogue/shown.ts";
import type { Scope } from "../../shared/identity/api-keys/scopes.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { RunOutput } from "../../shared/runs/records-shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import type { Api } from "../site/parts/api.ts";
import { provenToAnswer } from "./proven-agent.ts";
import type { ToolApi } from "./tool-api.ts";

type Data = Record<string, unknown>;

/** A tool for coding agents. It asks the interface as the caller, so rights, limits and idempotency are those of REST. */
interface Tool {
  name: string;
  title: string;
  description: string;
  annotations: { readOnlyHint: boolean; destructiveHint: false; idempotentHint: boolean; openWorldHint: boolean };
  input: z.ZodObject;
  /** The scope of what it is for, which a key needs before anything is asked: a tool refused halfway has changed something. */
  needs: Scope | null;
  /** Gets the arguments as they came: those that `input` takes. Throws the `Problem` that the interface answers with. */
  run(api: ToolApi, sent: unknown): Promise<Data>;
}

function tool<I extends z.ZodObject>(
  spec: Omit<Tool, "input" | "run" | "annotations"> & {
    reads: boolean;
    input: I;
    run(api: ToolApi, input: z.output<I>): Promise<Data>;
  },
): Tool {
  const { reads, input, run, ...rest } = spec;
  const annotations = {
    readOnlyHint: reads,
    destructiveHint: false,
    idempotentHint: reads,
    openWorldHint: !reads,
  } as const;
  return { ...rest, annotations, input, run: (api, sent) => run(api, input.parse(sent)) };
}

const listOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), total: z.int() });
const session_id = z.uuid().meta({ description: "The screening, as screen_agent names it" });
/** Tasks, runs and reasons are read one by one. */
const MOST_EXPLAINED = 10;
const Started = z.array(RunRead.pick({ screening_session_id: true })).min(1);

async function suiteOf(api: Api, slug: string): Promise<string> {
  const { items } = await api.read("/api/v1/suites?page_size=100", listOf(SuiteRead));
  const suite = items.find((one) => one.slug === slug && !one.is_secret);
  if (suite !== undefined) return suite.id;
  const known = items.filter((one) => !one.is_secret).map((one) => one.slug);
  throw new Problem("suite_unavailable", `There is no suite ${slug}; there are ${known.join(", ")}.`);
}

interface Endpoint {
  endpoint: string;
  protocol?: z.output<typeof Protocol> | undefined;
}

/**
 * The caller's own agent at an endpoint; undefined where there is none. Throws `conflicting_parameters` where it is called in
 * another protocol than is named: each of its runs would be spent on that.
 */
async function agentAt(api: Api, { endpoint, protocol }: Endpoint): Promise<string | undefined> {
  const query = new URLSearchParams({ endpoint, page_size: "1" });
  const [known] = (await api.read(`/api/v1/agents?${query.toString()}`, listOf(AgentRead))).items;
  if (known === undefined || protocol === undefined || protocol === known.agent_protocol) return known?.id;
  const said = `The agent there is called by ${known.agent_protocol}, not by ${protocol}. Leave protocol out, or change the agent.`;
  throw new Problem("conflicting_parameters", said);
}

/** Registers an agent at an endpoint. */
async function registered(api: Api, name: string | undefined, { endpoint, protocol }: Endpoint): Promise<string> {
  const { host, pathname } = new URL(endpoint);
  const body = { name: name ?? `${host}${pathname === "/" ? "" : pathname}`, endpoint, agent_protocol: protocol };
  return z.object({ id: z.uuid() }).parse(await api.send("POST", "/api/v1/agents", body)).id;
}

/** Why a run was not passed, as far as the caller may know. */
async function reasonOf(api: Api, { id, failure_code, failure_detail }: z.output<typeof RunRead>): Promise<string> {
  if (failure_code !== null) return failure_detail == null ? failure_code : `${failure_code}: ${failure_detail}`;
  try {
    const { explanation } = await api.read(`/api/v1/runs/${id}/output`, RunOutput);
    return explanation ?? "The answer is wrong.";
  } catch (error) {
    if (error instanceof Problem && (error.status === 403 || error.status === 404)) return "The answer is wrong.";
    throw error;
  }
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: "screen_agent",
    title: "Screen an agent",
    description:
      "Starts a screening: the service calls the agent's endpoint with each task of a suite and grades the answers. Takes " +
      "runs of the monthly allowance. Give agent_id, or endpoint: an agent that is new there is registered. It is called once " +
      "first: where each run would surely fail, none is spent, and what to mend is returned. Else it returns without " +
      "waiting for the runs; ask screening_status until it is final.",
    reads: false,
    needs: "runs:write",
    input: z
      .strictObject({
        agent_id: z.uuid().optional().meta({ description: "An agent that you may run" }),
        endpoint: z.url().optional().meta({ description: "Instead: the https address of your own agent's endpoint" }),
        name: z.string().optional().meta({ description: "What to call the agent where it is new" }),
        protocol: Protocol.optional().meta({
          description: "How the agent at the endpoint is called; native where it is new and this is left out",
        }),
        suite: z.string().default("core").meta({ description: "The suite's slug" }),
        repeats: z.int().min(1).max(10).default(1).meta({ description: "How often each task is run" }),
        private: z.boolean().default(false).meta({ description: "Runs that nobody else sees and that count nowhere" }),
        skip_test: z.boolean().default(false).meta({
          description:
            "Spend the runs without calling the agent once first, as where it may be called by its tasks alone",
        }),
        idempotency_key: z.string().min(1).max(255).optional().meta({
          description: "Any random text: sent again with the same one, nothing is started twice",
        }),
      })
      .refine((one) => (one.agent_id === undefined) !== (one.endpoint === undefined), {
        message: "Give agent_id or endpoint, and not both.",
      })
      .refine((one) => one.protocol === undefined || one.endpoint !== undefined, {
        message: "Give protocol with endpoint alone: an agent has one already.",
      }),
    async run(api, { agent_id, name, suite, repeats, private: isPrivate, idempotency_key: key, skip_test, ...at }) {
      const suite_id = await suiteOf(api, suite);
      const there = { ...at, endpoint: at.endpoint ?? "" };
      const known = agent_id ?? (await agentAt(api, there));
      const tested = known ?? { endpoint: there.endpoint, agent_protocol: there.protocol };
      const note = await provenToAnswer(api, tested, { skip: skip_test, key });
      const id = known ?? (await registered(api, name, there));
      const body = { agent_id: id, suite_id, repeats, private: isPrivate };
      const runs = Started.parse(await api.send("POST", "/api/v1/runs/batch", body, key));
      const started = { agent_id: id, session_id: runs[0]?.screening_session_id, runs: runs.length, status: "queued" };
      return note === undefined ? started : { ...started, note };
    },
  }),
  tool({
    name: "screening_status",
    title: "How a screening stands",
    description: "How many runs of a screening are queued, running, final and passed, and what is known of its cost.",
    reads: true,
    needs: "runs:read",
    input: z.strictObject({ session_id }),
    async run(api, input) {
      const { run_ids, task_plan, ...session } = await api.read(
        `/api/v1/screening-sessions/${input.session_id}`,
        ScreeningSessionRead,
      );
      return { ...session, runs: run_ids.length, tasks: task_plan.length };
    },
  }),
  tool({
    name: "explain_failures",
    title: "Why runs were not passed",
    description:
      "The runs of a screening that were not passed, each with its task and the reason. Of minted tasks only the sample is " +
      "shown: no run is asked it again.",
    reads: true,
    needs: "runs:read",
    input: z.strictObject({
      session_id,
      limit: z.int().min(1).max(MOST_EXPLAINED).default(5).meta({ description: "How many runs to explain" }),
    }),
    async run(api, input) {
      const query = `screening_session_id=${input.session_id}&passed=false&page_size=${input.limit}`;
      const { items, total } = await api.read(`/api/v1/runs?${query}`, listOf(RunRead));
      const failures = await Promise.all(
        items.map(async (run) => {
          const [reason, { title, domain, prompt }] = await Promise.all([
            reasonOf(api, run),
            api.read(`/api/v1/tasks/${run.task_id}`, TaskRead.partial({ prompt: true })),
          ]);
          return { run_id: run.id, task: title, domain, prompt, reason, correctness: run.correctness };
        }),
      );
      return { not_passed: total, failures };
    },
  }),
  tool({
    name: "board",
    title: "The public board",
    description: "The ranked agents, best first, each with its score and the interval that the score is known to.",
    reads: true,
    needs: null,
    input: z.strictObject({
      // Not by the schema that has a name: a reference to it would stand among the arguments, and many clients resolve none.
      domain: z.enum(DOMAINS).optional().meta({ description: "By the tasks of one domain alone" }),
      period: boardQuery.shape.period.meta({ description: "By the runs of the last days alone" }),
      limit: z.int().min(1).max(100).default(10).meta({ description: "How many agents" }),
    }),
    async run(api, { domain, period, limit }) {
      const query = new URLSearchParams({
        period,
        page_size: String(limit),
        ...(domain === undefined ? {} : { domain }),
      });
      return api.read(`/api/v1/leaderboard?${query.toString()}`, listOf(LeaderboardRow));
    },
  }),
  tool({
    name: "compare",
    title: "Compare agents",
    description:
      "Compares 2 to 10 agents, each with each, over the tasks at which both have runs. Go by p_adjusted: of many pairs " +
      "some look different by chance alone.",
    reads: true,
    needs: "agents:read",
    input: z.strictObject({ agent_ids: z.array(z.uuid()).min(2).max(10).meta({ description: "The agents" }) }),
    async run(api, { agent_ids }) {
      return api.read(`/api/v1/agents/compare?agent_ids=${agent_ids.join(",")}`, AgentComparisons);
    },
  }),
];
