import { Backlog, type Chaos, type Delivery } from "./backlog.ts";
import { callbackDraft, type DeadLetter } from "./callback.ts";
import { openClock } from "./clock.ts";
import type { Answer, Sender } from "./delivery.ts";
import { Lanes } from "./lanes.ts";
import type { LogStep } from "./log.ts";
import type { Draft, Message } from "./message.ts";
import { openPublications } from "./publications.ts";
import { verdict } from "./retry.ts";
import type { Store, Table } from "./store.ts";

/** The answer to one published message. */
export interface Receipt {
  readonly messageId: string;
  readonly deduplicated?: true;
}

/** A queue: its messages keep their order, and so many are under way at once, their retries included. */
export interface QueueConfig {
  readonly name: string;
  readonly parallelism: number;
  readonly paused: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Something that publishes by the clock. Times in Unix ms. */
export interface Ticker {
  next(): number | undefined;
  /** What is due at `now`, once each; after that `next()` is later. */
  fire(now: number): Draft[];
}

/** `delivered` and `retried` since the start; `dead` is what the dead letter queue holds. */
export interface Stats {
  readonly pending: number;
  readonly in_flight: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
}

/**
 * What the engine works with. `now` is the clock in Unix ms, to which virtual time adds; `maxInFlight` is how many
 * deliveries there are at once.
 */
export interface EngineParts {
  readonly store: Store;
  readonly sender: Sender;
  readonly ticker: Ticker;
  readonly now: () => number;
  readonly log: LogStep;
  readonly maxInFlight: number;
}

/** Takes messages, delivers them when due within their limits, retries, and keeps the dead letters. */
export interface Engine {
  readonly messages: Table<Message>;
  readonly deadLetters: Table<DeadLetter>;
  readonly queues: Table<QueueConfig>;
  /** The time in Unix ms, virtual time included. */
  now(): number;
  /** Takes the drafts durably. A repetition within ten minutes is answered with the first message's id. */
  submit(drafts: readonly Draft[]): Receipt[];
  /** Forgets these messages; how many there were. An attempt under way goes on, but nothing follows from it. */
  cancel(ids: readonly string[]): number;
  /** Changes the queue, or makes it. */
  setQueue(name: string, change: Partial<Pick<QueueConfig, "parallelism" | "paused">>): void;
  /** Forgets the queue with its messages. */
  deleteQueue(name: string): void;
  setChaos(change: Partial<Chaos>): void;
  stats(): Stats;
  /** Resolves when nothing is in flight and nothing is due that limits let pass, of messages to URLs that end so. */
  idle(urlEnd?: string): Promise<void>;
  /** Adds virtual time step by step, delivering all that falls due on the way, with its consequences. */
  advance(ms: number): Promise<void>;
  /** To be called after a change to the ticker. */
  wake(): void;
  /** Ends without taking notice of what is in flight. */
  stop(): void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** An engine that goes on with what its store holds; messages that were in flight when it ended are sent again. */
export function createEngine({ store, sender, ticker, now, log, maxInFlight }: EngineParts): Engine {
  const clock = openClock(store, now);
  const publications = openPublications(store);
  const messages = store.table<Message>("messages");
  const deadLetters = store.table<DeadLetter>("dead_letters");
  const queues = store.table<QueueConfig>("queues");
  const backlog = new Backlog();
  const lanes = new Lanes();
  const inFlight = new Set<Delivery>();
  let idleWaiters: { urlEnd: string; resolve: () => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let pumpedAt = Number.NEGATIVE_INFINITY;
  let waking = false;
  let stopped = false;
  let delivered = 0;
  let retried = 0;

  function accept({ message, deduplicationKey: key }: Draft): Receipt {
    if (key !== undefined) {
      const messageId = publications.firstOf(key, message.id, clock.now());
      if (messageId !== message.id) return { messageId, deduplicated: true };
    }
    messages.set(message.id, message);
    lanes.setLimits(message);
    if (message.queue !== undefined && !queues.has(message.queue)) setQueue(message.queue, {});
    backlog.add(message);
    log("CREATED", message, clock.now());
    return { messageId: message.id };
  }

  function submit(drafts: readonly Draft[]): Receipt[] {
    const receipts = store.transaction(() => drafts.map(accept));
    wake();
    return receipts;
  }

  function wake(): void {
    if (waking) return;
    waking = true;
    setImmediate(() => {
      waking = false;
      pump();
    });
  }

  function pump(): void {
    if (stopped) return;
    const time = clock.now();
    pumpedAt = time;
    if ((ticker.next() ?? Number.POSITIVE_INFINITY) <= time) {
      store.transaction(() => ticker.fire(time).forEach(accept));
    }
    backlog.promote(time);
    const admits = (delivery: Delivery): boolean => inFlight.size < maxInFlight && lanes.admit(delivery, time);
    for (const delivery of backlog.take(admits)) void run(delivery, time);
    releaseIdle();
    clearTimeout(timer);
    const next = nextEvent();
    if (next !== undefined) timer = setTimeout(pump, Math.min(MAX_TIMER_MS, Math.max(0, next - clock.now())));
  }

  // When, by the clock alone, something can move that could not at the last pump.
  function nextEvent(): number | undefined {
    const times = [backlog.nextDue(), ticker.next(), ...lanes.openings(backlog.heads())];
    const ahead = times.flatMap((time) => (time !== undefined && time > pumpedAt ? time : []));
    return ahead.length > 0 ? Math.min(...ahead) : undefined;
  }

  async function run(delivery: Delivery, time: number): Promise<void> {
    const { message, echo } = delivery;
    inFlight.add(delivery);
    lanes.enter(delivery, time);
    if (!echo) log("ACTIVE", message, time);
    const answer = await sender.send(message);
    if (stopped) return;
    inFlight.delete(delivery);
    if (!echo && messages.has(message.id)) store.transaction(() => settle(message, answer));
    lanes.leave(delivery, !messages.has(message.id));
    wake();
  }

  function settle(message: Message, answer: Answer): void {
    const time = clock.now();
    const next = verdict(message, answer, time);
    if (message.callback !== undefined) accept(callbackDraft(message.callback, { message, answer }, time));
    if (next.kind === "retry") {
      retried += 1;
      const again = { ...message, retried: message.retried + 1, due: next.due };
      messages.set(again.id, again);
      backlog.add(again);
      log("RETRY", again, time, answer);
      return;
    }
    messages.delete(message.id);
    if (next.kind === "delivered") {
      delivered += 1;
      log("DELIVERED", message, time, answer);
      return;
    }
    const letter = { id: `${time}-${message.id}`, message, answer, failedAt: time };
    deadLetters.set(letter.id, letter);
    if (message.failureCallback !== undefined) {
      accept(callbackDraft(message.failureCallback, letter, time, letter.id));
    }
    log("FAILED", message, time, answer);
  }

  function cancel(ids: readonly string[]): number {
    const found = ids.flatMap((id) => messages.get(id) ?? []);
    backlog.drop(new Set(found.map(({ id }) => id)));
    store.transaction(() => {
      for (const message of found) {
        messages.delete(message.id);
        if (message.queue !== undefined) lanes.queue(message.queue).leave(message.id);
        log("CANCELED", message, clock.now());
      }
    });
    wake();
    return found.length;
  }

  function setQueue(name: string, change: Partial<Pick<QueueConfig, "parallelism" | "paused">>): void {
    const time = clock.now();
    const before = queues.get(name) ?? { name, parallelism: 1, paused: false, createdAt: time, updatedAt: time };
    const queue = { ...before, ...change, updatedAt: time };
    queues.set(name, queue);
    openQueue(queue);
    wake();
  }

  function openQueue({ name, parallelism, paused }: QueueConfig): void {
    const lane = lanes.queue(name);
    lane.limits = { ...lane.limits, parallelism };
    lane.paused = paused;
  }

  function deleteQueue(name: string): void {
    cancel([...messages.values()].filter(({ queue }) => queue === name).map(({ id }) => id));
    queues.delete(name);
  }

  function resume(message: Message): void {
    backlog.add(message);
    lanes.setLimits(message);
    if (message.queue !== undefined && message.retried > 0) lanes.queue(message.queue).enter(message.id, clock.now());
  }

  const isBusy = (urlEnd: string): boolean => [...inFlight].some(({ message }) => message.url.endsWith(urlEnd));

  async function idle(urlEnd = ""): Promise<void> {
    pump();
    if (isBusy(urlEnd)) await new Promise<void>((resolve) => idleWaiters.push({ urlEnd, resolve }));
  }

  function releaseIdle(): void {
    const waiting = idleWaiters;
    idleWaiters = waiting.filter(({ urlEnd }) => !stopped && isBusy(urlEnd));
    for (const waiter of waiting) if (!idleWaiters.includes(waiter)) waiter.resolve();
  }

  async function advance(ms: number): Promise<void> {
    // What passes by itself meanwhile comes on top: a clock that is put forward with this one stays beside it.
    let left = ms;
    await idle();
    for (let next = nextEvent(); next !== undefined && next - clock.now() <= left; next = nextEvent()) {
      const step = Math.max(0, next - clock.now());
      clock.skip(step);
      left -= step;
      await idle();
    }
    clock.skip(left);
    await idle();
  }

  for (const queue of queues.values()) openQueue(queue);
  for (const message of messages.values()) resume(message);
  wake();

  return {
    messages,
    deadLetters,
    queues,
    now: () => clock.now(),
    submit,
    cancel,
    setQueue,
    deleteQueue,
    setChaos: (change) => backlog.setChaos(change),
    stats() {
      const underWay = [...inFlight].filter(({ message, echo }) => !echo && messages.has(message.id)).length;
      return {
        pending: messages.size - underWay,
        in_flight: inFlight.size,
        delivered,
        retried,
        dead: deadLetters.size,
      };
    },
    idle,
    advance,
    wake,
    stop() {
      stopped = true;
      clearTimeout(timer);
      releaseIdle();
    },
  };
}
