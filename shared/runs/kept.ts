import { LOCK_AGENTS } from "../agents/lock.ts";
import type { Installed } from "../db/kept.ts";
import { CARRY_ON } from "./carry-on.ts";
import { CLAIM } from "./claim.ts";
import { END, END_ALL } from "./finalise.ts";
import { KEEP_ANSWERS, LOCK_CALLED } from "./keep-answer.ts";
import { LOAD_ANSWERED } from "./load-answered.ts";
import { TAKE_REPORT, TAKE_REPORTS } from "./report.ts";
import { GIVE_BACK_CANARIES, LOCK_SCREENED, RESCORE_SESSION, SETTLE, SUM_UP_SESSION, TELL } from "./settle.ts";
import { RESCORE, SUM_UP } from "./sum-up.ts";

/** The statements of a run that the database keeps. */
export const KEPT: readonly Installed[] = [
  CLAIM,
  LOCK_CALLED,
  KEEP_ANSWERS,
  CARRY_ON,
  TAKE_REPORT,
  TAKE_REPORTS,
  LOAD_ANSWERED,
  LOCK_AGENTS,
  END,
  SUM_UP,
  RESCORE,
  END_ALL,
  LOCK_SCREENED,
  TELL,
  SUM_UP_SESSION,
  RESCORE_SESSION,
  GIVE_BACK_CANARIES,
  SETTLE,
];
