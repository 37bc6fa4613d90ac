import type { Delivery } from "./backlog.ts";
import type { Limits, Message } from "./message.ts";

/** Whatever occupies a place in a lane. */
type Holder = object | string;

/** A limit that several messages share: so many holders at once, and so many entries a period. */
export class Lane {
  limits: Limits = { parallelism: 1, rate: Number.POSITIVE_INFINITY, periodMs: 0 };
  paused = false;
  readonly #holders = new Set<Holder>();
  #periodStart = Number.NEGATIVE_INFINITY;
  #entered = 0;

  /** Whether `holder` may enter at `now`; one that holds its place already always may. */
  admits(holder: Holder, now: number): boolean {
    if (this.paused) return false;
    return this.#holders.has(holder) || (this.#hasRoom() && now >= this.#opensAt());
  }

  /** When the rate lets the next one in, if the rate alone keeps it out. */
  nextOpening(): number | undefined {
    const opensAt = this.#opensAt();
    return !this.paused && this.#hasRoom() && Number.isFinite(opensAt) ? opensAt : undefined;
  }

  /** Gives `holder` a place, whether or not there is room. */
  enter(holder: Holder, now: number): void {
    this.#holders.add(holder);
    if (now >= this.#periodStart + this.limits.periodMs) {
      this.#periodStart = now;
      this.#entered = 0;
    }
    this.#entered += 1;
  }

  /** Frees the place of `holder`, if it has one. */
  leave(holder: Holder): void {
    this.#holders.delete(holder);
  }

  #hasRoom(): boolean {
    return this.#holders.size < this.limits.parallelism;
  }

  #opensAt(): number {
    return this.#entered < this.limits.rate ? Number.NEGATIVE_INFINITY : this.#periodStart + this.limits.periodMs;
  }
}

/** The lanes of all queues and flow-control keys, made as they are first named. */
export class Lanes {
  readonly #queues = new Map<string, Lane>();
  readonly #flows = new Map<string, Lane>();

  queue(name: string): Lane {
    return laneIn(this.#queues, name);
  }

  /** The limits of a flow-control key are those of the message that named it last. */
  setLimits({ flow }: Message): void {
    if (flow !== undefined) laneIn(this.#flows, flow.key).limits = flow;
  }

  admit(delivery: Delivery, now: number): boolean {
    return this.#places(delivery).every(([lane, holder]) => lane.admits(holder, now));
  }

  enter(delivery: Delivery, now: number): void {
    for (const [lane, holder] of this.#places(delivery)) lane.enter(holder, now);
  }

  /** Ends an attempt. The place in a queue is kept until the message is `done` with, so that its retries keep the order. */
  leave(delivery: Delivery, done: boolean): void {
    for (const [lane, holder] of this.#places(delivery)) if (done || holder === delivery) lane.leave(holder);
  }

  /** When a rate lets these deliveries move, for those that nothing else keeps. */
  openings(deliveries: readonly Delivery[]): number[] {
    return deliveries.flatMap((delivery) => this.#places(delivery).flatMap(([lane]) => lane.nextOpening() ?? []));
  }

  #places(delivery: Delivery): [Lane, Holder][] {
    const { queue, flow, id } = delivery.message;
    const places: [Lane, Holder][] = [];
    if (queue !== undefined) places.push([this.queue(queue), id]);
    if (flow !== undefined) places.push([laneIn(this.#flows, flow.key), delivery]);
    return places;
  }
}

function laneIn(lanes: Map<string, Lane>, key: string): Lane {
  const lane = lanes.get(key) ?? new Lane();
  lanes.set(key, lane);
  return lane;
}
