import type { ScreeningClient } from "../../../typescript/src/client.ts";
import { given } from "../../../typescript/src/problem.ts";
import { type Agent, agentOf, type By } from "../agent.ts";
import { AUTH_HEADER } from "../auth-header.ts";
import { provenBaseline } from "../baseline.ts";
import { command, SERVICE, type Values } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { createProgress } from "../progress.ts";
import { type Known, provenFiles, told, writeResults } from "../report-files.ts";
import { show, verdictOn } from "../outcome.ts";
import { toJson } from "../reports.ts";
import { resultsOf } from "../results.ts";
import { connectSignedIn } from "../settings.ts";
import { note, plain, print } from "../terminal.ts";
import { finished } from "../wait.ts";
import { numbered } from "../words.ts";
import { countOf } from "./runs.ts";

const OPTIONS = {
  ...SERVICE,
  suite: { type: "string", value: "SLUG", about: "which suite (core)" },
  repeats: { type: "string", value: "N", about: "how often each task, 1 to 10 (1)" },
  name: { type: "string", value: "NAME", about: "what to call the agent when it is new" },
  protocol: {
    type: "string",
    value: "NAME",
    about:
      "of a new agent: native (default), openai_chat, a2a (0.2 and 0.3) or a2a_1 (1.0); refused where a known one has another",
  },
  "auth-header": {
    ...AUTH_HEADER["auth-header"],
    about: `of a new agent: ${AUTH_HEADER["auth-header"].about}; refused where a known one has another`,
  },
  private: { type: "boolean", about: "runs that nobody else sees, and that move no public number" },
  "skip-test": {
    type: "boolean",
    about: "spend the runs without a test first, which an agent that surely fails does not pass",
  },
  session: { type: "string", value: "ID", about: "a screening that has begun: begin none, wait for that one" },
  wait: { type: "boolean", about: "wait for the score" },
  "cancel-on-signal": { type: "boolean", about: "SIGINT and SIGTERM cancel what is queued; waits" },
  "fail-under": { type: "string", value: "SCORE", about: "exit code 1 below this score; waits" },
  "fail-on-regression": {
    type: "boolean",
    about: "exit code 1 if the agent got worse since its last screening over the same tasks; waits",
  },
  baseline: {
    type: "string",
    value: "ID",
    about: "the screening to hold this one to, of this agent or another, in place of the last one; waits",
  },
  junit: { type: "string", value: "FILE", about: "write a JUnit file; waits" },
  markdown: { type: "string", value: "FILE", about: "write a summary in Markdown; waits" },
} as const;

/** `screen`: runs a suite against an agent and says what came of it. */
export const screen = command({
  usage: "screen URL|ID|--session ID [--suite core] [--repeats 3] [--wait] [--fail-under 70] [--fail-on-regression]",
  about:
    "Screens an agent by its id, or by the URL of its endpoint: the first time, it is registered. It is called once first, as by\n" +
    "test: where it is not there, refuses or answers in a wrong form, no run is spent, and the exit code is 1. The score is that of\n" +
    "this screening alone, by the rules of the board. --session waits for a screening that has begun, and reports on that one.",
  options: OPTIONS,
  most: 1,
  async run(values, [target], terminal) {
    const least = thresholdOf(values["fail-under"]);
    const files = provenFiles(values);
    const isCancelled = values["cancel-on-signal"] === true;
    const halt = new AbortController();
    const begin = async () => {
      const service = connectSignedIn(values, terminal);
      return { ...service, ...(await begun({ ...service, terminal }, target, values, halt.signal)) };
    };
    let beginning: ReturnType<typeof begin> | undefined;
    // Its runs may be queued already where the answer that names their session is still on its way.
    const halted = async (signal: AbortSignal) => {
      halt.abort();
      const one = await within(signal, beginning).catch((error: unknown) => {
        if (error !== halt.signal.reason) throw error;
      });
      return one === undefined ? "Nothing had been queued." : cancelled(one, signal);
    };
    const known: Known = { agent: "agent-screening", goesOnBy: null };
    // Both halves under one watch: a signal between two would be heard by neither.
    const results = await told(
      files,
      known,
      terminal,
      async () => {
        const { client, url, agent, session_id, runs } = await (beginning = begin());
        const link = `${url}/sessions/${session_id}`;
        note(terminal, `Screening ${plain(agent.name)}: ${numbered(runs, "run")}, ${link}`);
        if (!waits(values)) {
          print(
            terminal,
            values.json === true ? JSON.stringify({ agent_id: agent.id, session_id, link, runs }) : session_id,
          );
          return null;
        }
        Object.assign(known, { agent: agent.name, goesOnBy: `agent-screening screen --session ${session_id}` });
        return resultsOf(
          client,
          url,
          agent,
          await finished(client, session_id, createProgress(terminal)),
          values.baseline,
        );
      },
      isCancelled ? halted : undefined,
    );
    if (results === null) return EXIT.fine;
    const { exit, verdict } = verdictOn(results, least, values["fail-on-regression"] === true);
    if (values.json === true) print(terminal, toJson(results, verdict));
    else show(results, verdict, terminal);
    // Printed first: a disk that is full now costs the files alone.
    writeResults(files, results, verdict);
    return exit;
  },
});

/** A screening that has begun. */
interface Begun {
  agent: Agent;
  session_id: string;
  runs: number;
}

/** Cancels what is queued of a screening; resolves to what was done. */
async function cancelled(
  { client, session_id }: { client: ScreeningClient; session_id: string },
  signal: AbortSignal,
): Promise<string> {
  const params = { path: { session_id } };
  await given(client.POST("/api/v1/screening-sessions/{session_id}/cancel", { params, signal }));
  return "What was queued has been cancelled.";
}

/** What `work` comes to. @throws the reason of the signal where that aborts first */
function within<T>(signal: AbortSignal, work: Promise<T> | undefined): Promise<T | undefined> {
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, ended]);
}

/** The screening that was asked about by its id, or a new one of the agent that was named, unless `halted` before that. */
async function begun(
  by: By,
  target: string | undefined,
  values: Values<typeof OPTIONS>,
  halted: AbortSignal,
): Promise<Begun> {
  const { client } = by;
  const { session: session_id, suite, repeats, name, protocol, private: hidden } = values;
  if (session_id !== undefined) {
    if (
      [target, suite, repeats, name, protocol, hidden, values["auth-header"], values["skip-test"]].some(
        (one) => one !== undefined,
      )
    )
      throw new Failure(EXIT.usage, "With --session no screening begins: give no agent, and nothing about new runs.");
    const path = { session_id };
    const known = await given(client.GET("/api/v1/screening-sessions/{session_id}", { params: { path } }));
    if (values.baseline !== undefined) await provenBaseline(client, values.baseline, known.suite_id);
    return { agent: await agentOf(by, known.agent_id, values), session_id, runs: known.run_ids.length };
  }
  if (target === undefined) throw new Failure(EXIT.usage, "Give one agent: its id, or the URL of its endpoint.");
  const counted = countOf("repeats", repeats ?? "1");
  const suite_id = await suiteOf(client, suite ?? "core");
  if (values.baseline !== undefined) await provenBaseline(client, values.baseline, suite_id);
  const agent = await agentOf(by, target, values, values["skip-test"] === true ? undefined : { signal: halted });
  const body = { agent_id: agent.id, suite_id, repeats: counted, private: hidden === true };
  halted.throwIfAborted();
  const runs = await given(client.POST("/api/v1/runs/batch", { body }));
  return { agent, session_id: runs[0]?.screening_session_id ?? "", runs: runs.length };
}

function waits(values: Values<typeof OPTIONS>): boolean {
  const { wait = false, session, junit, markdown } = values;
  return (
    wait ||
    session !== undefined ||
    values["cancel-on-signal"] === true ||
    values["fail-under"] !== undefined ||
    values["fail-on-regression"] === true ||
    values.baseline !== undefined ||
    junit !== undefined ||
    markdown !== undefined
  );
}

function thresholdOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 100))
    throw new Failure(EXIT.usage, "--fail-under takes a score from 0 to 100.");
  return value;
}

async function suiteOf(client: ScreeningClient, slug: string): Promise<string> {
  const known: string[] = [];
  for await (const suite of client.each("/api/v1/suites")) {
    if (suite.slug === slug || suite.id === slug) return suite.id;
    if (!suite.is_secret) known.push(suite.slug);
  }
  throw new Failure(EXIT.usage, `There is no suite ${slug}; there are ${known.join(", ")}.`);
}
