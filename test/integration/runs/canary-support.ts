import canonicalize from "canonicalize";
import { expect } from "vitest";
import { core } from "../../../shared/suites/public/core/index.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import type { Handler } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { canaryPlaces, honest, MATH, secretOf, tasksBySlug, told } from "./minted-support.ts";
import { addAgent, deliver, startAgent } from "./support.ts";

export interface Run {
  id: string;
  task_id: string;
  repeat_index: number;
  screening_session_id: string;
  status: string;
  canary: boolean | null;
  evidence_signed: boolean;
}

/** A minute before the epoch ends. */
export const START = Date.parse("2026-11-22T23:59:00Z");

const samples = new Set(core.tasks.map(({ prompt, input }) => canonicalize([prompt, input ?? null])));

/** A service whose tasks are minted, with an owner and an agent that works them out. */
export class Minting {
  readonly service: TestService;
  readonly owner: User;
  readonly anonymous: Caller;
  readonly agent: Consumer;
  /** The four minted tasks of the domain math. */
  readonly tasks: string[];
  private readonly clock: { time: number };

  private constructor(service: TestService, owner: User, agent: Consumer, tasks: string[], clock: { time: number }) {
    [this.service, this.owner, this.agent, this.tasks, this.clock] = [service, owner, agent, tasks, clock];
    this.anonymous = caller(service);
  }

  static async start(answer: Handler = honest): Promise<Minting> {
    const clock = { time: START };
    const service = await startService({ overrides: { now: () => new Date(clock.time) } });
    const owner = await newUser(service, { plan: "enterprise" });
    const tasks = [...(await tasksBySlug(service, MATH)).values()];
    expect(tasks).toHaveLength(4);
    return new Minting(service, owner, await startAgent(answer), tasks, clock);
  }

  async stop(): Promise<void> {
    await this.agent.stop();
    await this.service.stop();
  }

  /** Sets the clock to so many milliseconds after `START`. */
  at(ms: number): void {
    this.clock.time = START + ms;
  }

  addLive(): Promise<string> {
    return addAgent(this.owner, { endpoint: this.agent.url });
  }

  /** Reserves runs of the four tasks, which nothing takes up before `released`. */
  async reserve(agent_id: string, repeats: number, fields: object = {}): Promise<Run[]> {
    this.service.faults.set({ service: "qstash", mode: "hang" });
    const body = { agent_id, task_ids: this.tasks, repeats, ...fields };
    const answer = await this.owner.call<Run[]>("POST", "/api/v1/runs/batch", body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  /** Lets the queue carry out what is reserved, to the end. */
  async released(): Promise<void> {
    this.service.faults.set({ service: "qstash", mode: "none" });
    await this.service.settled();
  }

  /** Carries these runs out without the queue. */
  async carryOut(runs: readonly Run[]): Promise<void> {
    for (const consumer of ["dispatch", "score"])
      await Promise.all(runs.map(({ id }) => deliver(this.service, consumer, id)));
    expect((await this.readAll(runs)).map(({ status }) => status)).toEqual(runs.map(() => "completed"));
  }

  private reads = 0;

  async read(path: string, who: Caller = this.owner) {
    // From many addresses: a minute has room for 300 reads from one.
    const headers = { "cf-connecting-ip": `10.7.${Math.floor((this.reads += 1) / 200)}.1` };
    return (await who.call("GET", path, undefined, headers)).body;
  }

  readAll(runs: readonly Run[]): Promise<Run[]> {
    return Promise.all(runs.map(({ id }) => this.read(`/api/v1/runs/${id}`) as Promise<Run>));
  }

  /** The session of these runs. */
  session(runs: readonly Run[]) {
    return this.read(`/api/v1/screening-sessions/${runs[0]?.screening_session_id}`);
  }

  /** Tells the service that the session of these runs has to be settled; resolves to the status of the answer. */
  settle(runs: readonly Run[]): Promise<number> {
    return deliver(this.service, "settle", { screening_session_id: runs[0]?.screening_session_id });
  }

  /** The canaries among a session's runs, and the others, by what the secret of its epoch says. */
  async parted(runs: readonly Run[]) {
    const secret = await secretOf(this.service, "2026-11-22");
    const places = canaryPlaces(secret, runs[0]?.screening_session_id ?? "", runs.length);
    return {
      canaries: runs.filter((_run, place) => places.includes(place)),
      others: runs.filter((_run, place) => !places.includes(place)),
    };
  }

  /** What the agent was sent about a run. */
  asked(id: string) {
    const call = this.agent.seen.find(({ body }) => told(body).run_id === id);
    if (call === undefined) throw new Error(`${id} was never asked`);
    return { headers: call.headers, body: told(call.body) };
  }

  /** Whether a run was asked what is published of its task. */
  wasSample(id: string): boolean {
    const { prompt, input = null } = this.asked(id).body.task;
    return samples.has(canonicalize([prompt, input]));
  }

  /** How many statements of runs the log has or is about to have. */
  async entries(): Promise<number> {
    return (
      await this.service.sql("select from log_entries where convert_from(entry, 'UTF8') like '%\"kind\":\"run\"%'")
    ).length;
  }

  /** The facts of a run. */
  async facts(id: string): Promise<string[]> {
    const { items } = await this.read(`/api/v1/runs/${id}/phases`);
    return items.map(({ phase, outcome }: { phase: string; outcome: string }) => `${phase} ${outcome}`);
  }
}

/** What a JSON value is made of, without what it says. */
export function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
}
