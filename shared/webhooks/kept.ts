import type { Installed } from "../db/kept.ts";
import { ANNOUNCE } from "./announce.ts";
import { CLAIM_ALL_DUE, CLAIM_DUE, LOCK_DUE } from "./claim.ts";
import { RECORD_SUCCESSES } from "./record-successes.ts";

/** The statements of webhooks that the database keeps. */
export const KEPT: readonly Installed[] = [ANNOUNCE, LOCK_DUE, CLAIM_DUE, CLAIM_ALL_DUE, RECORD_SUCCESSES];
