import type { Delivery } from "../shared/queue/publish.ts";
import { SENT } from "./sent.static.ts";

export { CONSUMERS } from "./consumers.ts";

/** How each consumer wants its messages sent. */
export const DELIVERIES: ReadonlyMap<string, Delivery> = new Map(Object.entries(SENT));
