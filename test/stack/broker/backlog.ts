import type { Message } from "./message.ts";

/** One message to be sent. An `echo` is a second copy sent for the sake of disorder; its answer means nothing. */
export interface Delivery {
  readonly message: Message;
  readonly echo: boolean;
}

/** Disorder to test receivers with: every delivery made twice, messages taken in random order. */
export interface Chaos {
  readonly duplicate: boolean;
  readonly shuffle: boolean;
}

/**
 * What waits to be sent: messages that are not due yet, and due ones in groups. The messages of a group share their
 * limits and keep their order, so one look at its head tells whether the group can move.
 */
export class Backlog {
  // Latest first, so that the next one is taken off the end.
  #later: Message[] = [];
  readonly #groups = new Map<string, Delivery[]>();
  #chaos: Chaos = { duplicate: false, shuffle: false };

  /** From now on; what `change` does not name stays as it is. */
  setChaos(change: Partial<Chaos>): void {
    this.#chaos = { ...this.#chaos, ...change };
  }

  /** Takes in a message, to be promoted once it is due. Equal times keep their order. */
  add(message: Message): void {
    let low = 0;
    let high = this.#later.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#later[middle]?.due ?? 0) > message.due) low = middle + 1;
      else high = middle;
    }
    this.#later.splice(low, 0, message);
  }

  /** When the next message falls due, if one waits for that. */
  nextDue(): number | undefined {
    return this.#later.at(-1)?.due;
  }

  /** Moves what is due at `now` to its group: retries to the front, the rest to the end or, shuffled, anywhere. */
  promote(now: number): void {
    const { duplicate, shuffle } = this.#chaos;
    for (let next = this.#later.at(-1); next !== undefined && next.due <= now; next = this.#later.at(-1)) {
      this.#later.pop();
      const key = JSON.stringify([next.queue, next.flow?.key]);
      const group = this.#groups.get(key) ?? [];
      const place = shuffle ? Math.floor(Math.random() * (group.length + 1)) : group.length;
      group.splice(next.retried > 0 ? 0 : place, 0, { message: next, echo: false });
      if (duplicate) group.push({ message: next, echo: true });
      this.#groups.set(key, group);
    }
  }

  /** Takes off, group by group in turn, every head that `admits` lets pass. */
  *take(admits: (delivery: Delivery) => boolean): Generator<Delivery> {
    for (const [key, group] of this.#groups) {
      const head = group[0];
      if (head === undefined || !admits(head)) continue;
      group.shift();
      // At the end of the map the group has its next turn after all others, still in this loop.
      this.#groups.delete(key);
      if (group.length > 0) this.#groups.set(key, group);
      yield head;
    }
  }

  /** The heads of the groups: what could be sent next, were it admitted. */
  heads(): Delivery[] {
    return [...this.#groups.values()].flatMap(([head]) => head ?? []);
  }

  /** Forgets the messages with these ids. */
  drop(ids: ReadonlySet<string>): void {
    this.#later = this.#later.filter(({ id }) => !ids.has(id));
    for (const [key, group] of this.#groups) {
      const kept = group.filter(({ message }) => !ids.has(message.id));
      if (kept.length > 0) this.#groups.set(key, kept);
      else this.#groups.delete(key);
    }
  }
}
