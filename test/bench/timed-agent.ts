/**
 * An agent in a process of its own that answers after 20 ms, at once or by callback, and tells at `/seen` what each run took
 * by its own clock. On a machine that is slower than the budgets' own it takes as much longer: what the work of a processor
 * is compared with must not stand still where that slows down.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { paceNow } from "./pace.ts";
import { json, listen, type Reply } from "../stack/http.ts";

const Seen = z.array(z.tuple([z.string(), z.number()]));
const Asked = z.object({ callback: z.object({ url: z.url(), method: z.string(), token: z.string() }) });

/** How long the agent takes over an answer. */
const ANSWERS_AFTER_MS = 20;
const ANSWER = { output: "42" };

/** The agent, as the bench sees it. */
export interface TimedAgent {
  /** Where it answers at once. */
  url: string;
  /** Where it answers 202, and then by callback. */
  callbackUrl: string;
  /** How many times as long as on the machine that the budgets were made for all takes here (`paceNow`). */
  pace: number;
  /** Milliseconds by run, from the request to the answer or report, as the agent saw them since it was asked last. */
  seen(): Promise<Map<string, number>>;
  stop(): void;
}

/** Starts the agent. */
export async function startTimedAgent(): Promise<TimedAgent> {
  const pace = await paceNow();
  const child = fork(fileURLToPath(import.meta.url), [String(pace)]);
  const [message] = await once(child, "message");
  const url = String(message);
  return {
    url: `${url}/run`,
    callbackUrl: `${url}/later`,
    pace,
    async seen() {
      return new Map(Seen.parse(await (await fetch(`${url}/seen`)).json()));
    },
    stop: () => void child.kill(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pace = Number(process.argv[2]);
  let seen: [string, number][] = [];
  const worked = async (run: string | string[] | undefined): Promise<void> => {
    const started = performance.now();
    await delay(ANSWERS_AFTER_MS * pace);
    if (typeof run === "string") seen.push([run, performance.now() - started]);
  };
  const report = async (run: string | string[] | undefined, body: string): Promise<void> => {
    const { url: to, method, token } = Asked.parse(JSON.parse(body)).callback;
    await worked(run);
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const { status } = await fetch(to, { method, headers, body: JSON.stringify({ status: "completed", ...ANSWER }) });
    if (status !== 200) console.error(`a report was answered with ${status}`);
  };
  const { url } = await listen(async ({ url: { pathname }, headers, body }): Promise<Reply> => {
    const run = headers["x-service-run-id"];
    if (pathname === "/seen") {
      const told = seen;
      seen = [];
      return json(200, told);
    }
    if (pathname === "/later") {
      void report(run, body.toString());
      return { status: 202 };
    }
    await worked(run);
    return json(200, ANSWER);
  });
  process.send?.(url);
}
