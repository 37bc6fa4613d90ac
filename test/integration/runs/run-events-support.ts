import { expect, vi } from "vitest";
import { createService } from "../../../functions/service.ts";
import { DELIVERIES } from "../../../queues/index.ts";
import type { SessionPrincipal } from "../../../shared/identity/principal.ts";
import type { Context } from "../../../shared/platform/context.ts";
import type { Sleep } from "../../../shared/results/follow.ts";
import type { User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";

/** What a verb of the domain gets, on the stack of `service` and by the clock `now`. */
export function contextOf(service: TestService, now: () => Date): Context {
  const log = (line: string) => void service.logs.push(line);
  return createService(service.settings, DELIVERIES, { now, log }).context({
    requestId: "test",
    addressHash: null,
    defer: () => undefined,
  });
}

/** Whoever calls with an account's access token, by what that says. */
export function sessionOf({ id, token }: Pick<User, "id" | "token">): SessionPrincipal {
  const { sid, jti, exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const expiresAt = new Date(exp * 1000);
  return { kind: "session", userId: id, sessionId: sid, tokenId: jti, expiresAt, viaCookie: false };
}

/** An event as a reader takes it. */
export interface Told {
  id: string | null;
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

/** The events of a stream's text, as the HTML standard has a reader take them. */
export function eventsOf(text: string): Told[] {
  const blocks = text.split("\n\n").filter((block) => block.includes("data: "));
  const field = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? null;
  return blocks.map((block) => ({
    id: field(block, "id"),
    event: field(block, "event") ?? "message",
    data: JSON.parse(field(block, "data") ?? ""),
  }));
}

/** A stream that is read as it comes. */
export interface Reading {
  /** All that was read so far. */
  text(): string;
  /** Whether it came to its end. */
  ended(): boolean;
  /** Stops reading, or goes on. */
  stall(stalled: boolean): void;
}

/** A clock that stands still while anybody works, and goes on to the next one who wakes. */
export function timeline(at = Date.UTC(2026, 10, 21, 12)) {
  let now = at;
  let reading = 0;
  const sleeping: { until: number; wake: () => void }[] = [];
  const sleep: Sleep = (ms) => new Promise<void>((wake) => void sleeping.push({ until: now + ms, wake }));

  function read(pieces: AsyncIterable<string>): Reading {
    let [text, ended, stalled] = ["", false, false];
    let goOn = (): void => undefined;
    const run = async (): Promise<void> => {
      for await (const piece of pieces) {
        text += piece;
        if (!stalled) continue;
        reading -= 1;
        await new Promise<void>((resolve) => {
          goOn = () => {
            goOn = () => undefined;
            reading += 1;
            resolve();
          };
        });
      }
      ended = true;
      reading -= 1;
    };
    reading += 1;
    void run();
    return {
      text: () => text,
      ended: () => ended,
      stall(value) {
        stalled = value;
        if (!value) goOn();
      },
    };
  }

  return {
    now: () => new Date(now),
    sleep,
    read,
    /** Lets so many milliseconds pass for all who read. */
    async pass(ms: number): Promise<void> {
      const end = now + ms;
      for (;;) {
        await vi.waitFor(() => expect(sleeping.length).toBe(reading), { timeout: 10_000, interval: 1 });
        const next = Math.min(...sleeping.map(({ until }) => until));
        now = Math.min(end, Math.max(now, next));
        if (next > end) return;
        for (const one of sleeping.filter(({ until }) => until <= now)) {
          sleeping.splice(sleeping.indexOf(one), 1);
          one.wake();
        }
      }
    },
  };
}
