import type { Kept } from "../db/kept.ts";
import { CLAIM } from "./claim.ts";
import { END } from "./finalise.ts";
import { KEEP_ANSWERS } from "./keep-answer.ts";
import { LOAD_ANSWERED } from "./load-answered.ts";
import { RESCORE, SUM_UP } from "./sum-up.ts";

/** The statements of a run that the database keeps. */
export const KEPT: readonly Kept[] = [CLAIM, KEEP_ANSWERS, LOAD_ANSWERED, END, SUM_UP, RESCORE];
