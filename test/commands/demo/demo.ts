/** `npm run demo`: the whole service on this machine screens a small real agent; exit code 0 only if all of it happened. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { AgentRead } from "../../../shared/agents/shown.ts";
import { DevUpgradeResponse } from "../../../shared/billing/schemas.ts";
import { SuiteRead, TaskRead } from "../../../shared/catalogue/shown.ts";
import { TokenResponse, UserRead } from "../../../shared/identity/shown.ts";
import { LeaderboardRow } from "../../../shared/board/shown.ts";
import { ScreeningSessionRead } from "../../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../../shared/runs/shown.ts";
import { startSample } from "../../agents/sample.ts";
import { printTraced, startTraced } from "./blueprint.ts";
import { type ApiClient, createClient, DemoFailure, ensure } from "./client.ts";
import { checkEvidence, checkLog } from "./evidence.ts";
import { startMemoriser } from "./memoriser.ts";
import { type Outputs, readOutputs } from "./outputs.ts";
import { createProgress, type Progress, printBlock, printStep, styled, fixed } from "./print.ts";
import { groupByTask, printDomains, printFailed, printScores, printSlowest, type TaskRuns } from "./scorecard.ts";
import { listen } from "../../stack/http.ts";
import { type Stack, startStack } from "../../stack/stack.ts";

const REPEATS = 3;
/** So many tasks are worked on by the agent that sends telemetry. */
const TRACED_TASKS = 8;
const SCREENING_MS = 120_000;
const BOARD_MS = 10_000;
const POLL_MS = 500;
/** What an agent that can do nothing may score at most, of 100: some answers are right by chance. */
const BY_CHANCE = 20;
const DEFAULT_PORT = 8787;
const { PORT, STACK_DIR } = process.env;
const KEEP = process.argv.includes("--keep");

type Run = z.output<typeof RunRead>;
type Session = z.output<typeof ScreeningSessionRead>;

/** Screens the agent at `endpoint` and shows what came of it. */
async function screen(stack: Stack, endpoint: string): Promise<void> {
  const open = createClient(stack.url);
  const api = await signUp(open);
  const suite = (await open.all("/api/v1/suites", SuiteRead)).find(({ slug }) => slug === "core");
  ensure(suite !== undefined, "The catalogue has no suite `core`.");
  const agent = await api.post("/api/v1/agents", { name: "Rules of thumb", endpoint }, AgentRead);
  printStep(`Agent ${agent.id} registered at ${endpoint}`);

  const batch = { agent_id: agent.id, suite_id: suite.id, repeats: REPEATS };
  const reserved = await api.post("/api/v1/runs/batch", batch, z.array(RunRead));
  ensure(reserved.length === suite.task_count * REPEATS, `${reserved.length} runs were reserved.`);
  printStep(`${suite.name}: ${suite.task_count} tasks × ${REPEATS} repeats = ${reserved.length} runs`);
  const taskIds = spread([...new Set(reserved.map((run) => run.task_id))], TRACED_TASKS);
  const traced = await startTraced(api, { service: stack.url, port: await portNear(0), taskIds });
  parts.push(traced.agent.close);
  await finished(api, reserved[0]?.screening_session_id ?? "", createProgress());

  const listed = await api.all(`/api/v1/runs?agent_id=${agent.id}`, RunRead);
  ensure(listed.length === reserved.length, `${listed.length} of ${reserved.length} runs are listed.`);
  const runs = listed.filter(({ canary }) => canary === false);
  printStep(`${listed.length - runs.length} of them were canaries, which do not count`);
  const unscored = runs.find((run) => run.simulated || !run.evidence_signed || run.failure_code === "service_error");
  ensure(unscored === undefined, `Run ${unscored?.id} is not a signed real run (${unscored?.failure_code}).`);
  const row = await boardRow(open, agent.id, runs.length);
  const tasks = await open.all("/api/v1/tasks", TaskRead);
  const groups = groupByTask(tasks, runs);
  ensure(groups.length === suite.task_count, `Runs of ${groups.length} tasks were found.`);

  printScores(row);
  printDomains(groups);
  printSlowest(groups);
  const outputs = await readOutputs(api, runs);
  printFailed(reasons(outputs, groups));

  await finished(api, traced.sessionId);
  await printTraced(open, traced);

  const memoriser = await startMemoriser(api, { service: stack.url, suiteId: suite.id, outputs });
  parts.push(memoriser.agent.close);
  const { counts } = await finished(api, memoriser.sessionId);
  const learned = await boardRow(open, memoriser.id, memoriser.runs);
  ensure(learned.composite_score < BY_CHANCE, `Answers learned by heart earn ${learned.composite_score} points.`);
  printBlock(`An agent that knows by heart what was right in all of these ${memoriser.known} runs`, [
    `${fixed("Rules of thumb", 22)} ${row.composite_score.toFixed(2).padStart(6)}`,
    `${fixed("By heart", 22)} ${learned.composite_score.toFixed(2).padStart(6)}  passes ${counts.passed} of ${memoriser.runs}: no task is asked twice`,
  ]);

  const evidence = await checkEvidence(open, runs);
  const place = await checkLog(open, runs[0]?.id ?? "", stack.minute);
  printBlock("Evidence", [
    `${styled("green", "✓")} ${evidence.verified} signed statements verified offline with the published key`,
    ...evidence.kids.map((kid) => styled("dim", kid)),
    `${styled("green", "✓")} one changed byte is found out: ${evidence.tampered}`,
    `${styled("green", "✓")} entry ${place} of the public log: its proof leads to the checkpoint that the log's key signed`,
  ]);
  printBlock("Where to look", [
    `${fixed(`rank ${row.rank} on the board`, 22)} ${stack.url}/`,
    `the agent on the API   ${stack.url}/api/v1/agents/${agent.id}`,
    `the board on the API   ${stack.url}/api/v1/leaderboard`,
    `mail, queue, faults    ${stack.consoleUrl}`,
  ]);
}

/** A new account with a plan that allows the whole batch: without a payment key, upgrades are instant and cost nothing. */
async function signUp(open: ApiClient): Promise<ApiClient> {
  const account = { email: `demo-${Date.now()}@example.test`, password: crypto.randomUUID() };
  const api = open.as((await open.post("/api/v1/auth/register", account, TokenResponse)).access_token);
  await api.post("/api/v1/billing/checkout", { tier: "pro", cadence: "monthly" }, DevUpgradeResponse);
  const { plan } = await api.get("/api/v1/auth/me", UserRead);
  ensure(plan === "pro", `The account has the plan ${plan}.`);
  printStep(`Account ${account.email} signed up and upgraded to Pro (development mode: nothing is paid)`);
  return api;
}

/** Waits for the end of a screening session and, where there is a line of progress, shows how far it is. */
async function finished(api: ApiClient, id: string, progress?: Progress): Promise<Session> {
  const started = Date.now();
  for (;;) {
    const session = await api.get(`/api/v1/screening-sessions/${id}`, ScreeningSessionRead);
    const { completed, failed, cancelled, passed } = session.counts;
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    progress?.show(
      completed + failed + cancelled,
      session.run_ids.length,
      `passed ${passed}, without answer ${failed}, ${seconds} s`,
    );
    if (session.finished_at !== null) {
      progress?.end();
      ensure(session.status === "completed", `The session ended as ${session.status}.`);
      if (progress !== undefined) printStep(`Screened in ${seconds} s`);
      return session;
    }
    ensure(Date.now() - started < SCREENING_MS, `The session has not ended after ${SCREENING_MS / 1000} s.`);
    await delay(POLL_MS);
  }
}

/** The agent's line of the public board, as soon as it counts all `runs`. */
async function boardRow(open: ApiClient, agentId: string, runs: number): Promise<z.output<typeof LeaderboardRow>> {
  for (const started = Date.now(); ; await delay(POLL_MS)) {
    const row = (await open.all("/api/v1/leaderboard", LeaderboardRow)).find(({ agent_id }) => agent_id === agentId);
    if (row?.runs === runs) {
      ensure(row.rank !== null && row.score_basis === "core", "The agent is not ranked on the board.");
      return row;
    }
    ensure(Date.now() - started < BOARD_MS, `The board counts ${row?.runs ?? 0} of ${runs} runs of the agent.`);
  }
}

/** Why the tasks that were not passed in every run failed: the failure of one such run, or its grader's explanation. */
function reasons(outputs: Outputs, groups: readonly TaskRuns[]): (TaskRuns & { reason: string })[] {
  return groups.flatMap((group) => {
    const run: Run | undefined = group.runs.find(({ passed }) => passed !== true);
    if (run === undefined) return [];
    return [{ ...group, reason: outputs.get(run.id)?.explanation ?? run.failure_code ?? "no reason was given" }];
  });
}

/** `size` of the items, evenly spread. */
function spread<T>(items: readonly T[], size: number): T[] {
  return items.filter((_item, at) => at % Math.ceil(items.length / size) === 0);
}

/** `port` where it is free, else any free one. */
async function portNear(port: number): Promise<number> {
  const probe = await listen(() => ({ status: 204 }), port).catch(() => listen(() => ({ status: 204 })));
  await probe.close();
  return probe.port;
}

const began = Date.now();
// The handlers stay: a second signal must not cut the stopping short.
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
});
const parts: (() => Promise<void>)[] = [];

async function demo(): Promise<void> {
  const port = PORT === undefined ? await portNear(DEFAULT_PORT) : Number(PORT);
  const dir = join(STACK_DIR ?? fileURLToPath(new URL("../../.local", import.meta.url)), "demo");
  const consolePort = await portNear(port + 1);
  const progress = (step: string) => console.log(styled("dim", `starting ${step} …`));
  const starting = startStack({ dir, port, consolePort, fresh: true, progress });
  // A start that is interrupted is waited for too, so that nothing of it stays behind.
  parts.push(() =>
    starting.then(
      (started) => started.stop(),
      () => undefined,
    ),
  );
  const stack = await starting;
  const agent = await startSample({ service: stack.url, verify: true });
  parts.push(agent.close);
  printStep(`Service at ${stack.url}, agent at ${agent.url} (it refuses calls that the service has not signed)`);
  await screen(stack, agent.url);
}

try {
  await Promise.race([demo(), interrupted.then(() => Promise.reject(new DemoFailure("it was interrupted")))]);
  console.log(`\n${styled("green", "All of it happened")}, in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
  if (KEEP) {
    console.log("Ctrl-C stops everything.");
    await interrupted;
  }
} catch (error) {
  process.exitCode = 1;
  const reason = error instanceof DemoFailure ? error.message : error instanceof Error ? error.stack : String(error);
  console.error(`\n${styled("red", "The demo failed:")} ${reason}`);
} finally {
  for (const part of parts.toReversed()) await part();
}
process.exit();
