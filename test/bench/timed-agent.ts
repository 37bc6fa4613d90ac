/** An agent in a process of its own that answers after 20 ms, and tells at `/seen` what each run took by its own clock. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { json, listen } from "../stack/http.ts";

const Seen = z.array(z.tuple([z.string(), z.number()]));

/** How long the agent takes over an answer. */
const ANSWERS_AFTER_MS = 20;

/** The agent, as the bench sees it. */
export interface TimedAgent {
  url: string;
  /** Milliseconds by run, as the agent saw them since it was asked last. */
  seen(): Promise<Map<string, number>>;
  stop(): void;
}

/** Starts the agent. */
export async function startTimedAgent(): Promise<TimedAgent> {
  const child = fork(fileURLToPath(import.meta.url));
  const [message] = await once(child, "message");
  const url = String(message);
  return {
    url,
    async seen() {
      return new Map(Seen.parse(await (await fetch(`${url}/seen`)).json()));
    },
    stop: () => void child.kill(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let seen: [string, number][] = [];
  const { url } = await listen(async (request) => {
    if (request.url.pathname === "/seen") {
      const told = seen;
      seen = [];
      return json(200, told);
    }
    const started = performance.now();
    await delay(ANSWERS_AFTER_MS);
    const run = request.headers["x-service-run-id"];
    if (typeof run === "string") seen.push([run, performance.now() - started]);
    return json(200, { output: "42" });
  });
  process.send?.(url);
}
