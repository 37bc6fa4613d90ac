import type { Api } from "../site/parts/api.ts";

/** The interface as the caller of a tool. */
export interface ToolApi extends Api {
  /** Whether a request of the caller's with this Idempotency-Key was carried out: one that comes again does nothing any more. */
  wasSent(key: string): Promise<boolean>;
}

/** Why a tool did not do what it is for, where the interface refused nothing; the message says what to do next. */
export class ToolFailure extends Error {}
