import { createService } from "../../functions/service.ts";
import { DELIVERIES } from "../../queues/index.ts";
import type { Context } from "../../shared/platform/context.ts";
import type { TestService } from "../stack/service.ts";

/** What a verb of the domain gets, on the stack of `service` and by the clock `now`. */
export function contextOf(service: TestService, now: () => Date): Context {
  const log = (line: string) => void service.logs.push(line);
  return createService(service.settings, DELIVERIES, { now, log }).context({
    requestId: "test",
    addressHash: null,
    defer: () => undefined,
  });
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
