import { forgetAllowances } from "../allowances/forget.ts";
import { forgetProviderEvents } from "../billing/forget.ts";
import { reconcile } from "../billing/reconcile.ts";
import { rescueCertifications } from "../certification/resume.ts";
import { remindOfEnds } from "../certification/remind.ts";
import { expireCertifications } from "../certification/expire.ts";
import { CLOSINGS } from "../closings/closings.ts";
import type { Piece } from "../db/pieces.ts";
import { forgetResults } from "../db/results.ts";
import { finaliseAccounts } from "../identity/deletion/finalise.ts";
import { forgetDevices } from "../identity/device/forget.ts";
import { forgetEnded, forgetMarks, forgetReplaced, forgetTokens } from "../identity/sessions/forget.ts";
import { forgetNotices } from "../mail/forget.ts";
import { failLeftPurchases } from "../marketplace/purchases/fail-left.ts";
import { lookAtSellersAgain } from "../marketplace/seller/look-again.ts";
import { TAKERS } from "../payments/takers.ts";
import type { Context } from "../platform/context.ts";
import { scheduleRechecks } from "../registry/recheck.ts";
import { forgetAddresses } from "../runs/forget-addresses.ts";
import { rescueRuns } from "../runs/rescue.ts";
import { settleForgotten } from "../runs/settle.ts";
import { forgetScores } from "../board/forget-scores.ts";
import { keepDay } from "../board/keep-day.ts";
import { PARTS, recompute } from "../board/recompute.ts";
import { recount } from "../board/recount.ts";
import { forgetSpans } from "../telemetry/forget.ts";
import { catchUp } from "../transparency/catch-up.ts";
import { forgetDeliveries } from "../webhooks/forget.ts";

/** An item of the daily work. */
export interface DailyItem {
  name: string;
  /** The most pieces of one delivery: few enough that, full, they send the 50 requests of the smallest plan at most. */
  pieces: number;
  /**
   * Does the piece that begins at `cursor`, at first null. Doing one again changes nothing. `lastDone` is when the item was
   * last done whole and without fault, null where it never was.
   */
  work(ctx: Context, cursor: string | null, lastDone: Date | null): Promise<Piece>;
}

/** What reads more than all the rest together is done in parts, side by side. */
const RECOMPUTING: readonly DailyItem[] = Array.from({ length: PARTS }, (_, part) => ({
  name: `recompute, part ${part + 1} of ${PARTS}`,
  pieces: 15,
  work: (ctx, cursor) => recompute(ctx, part, cursor),
}));

/** All that is done once a day. */
export const DAILY_ITEMS: readonly DailyItem[] = [
  { name: "delete accounts", pieces: 1, work: (ctx, cursor) => finaliseAccounts(ctx, CLOSINGS, cursor) },
  { name: "forget ended sessions", pieces: 20, work: forgetEnded },
  { name: "forget replaced credentials", pieces: 20, work: forgetReplaced },
  ...RECOMPUTING,
  { name: "keep the board's day", pieces: 20, work: keepDay },
  { name: "forget scores of days", pieces: 20, work: forgetScores },
  { name: "recount the boards", pieces: 20, work: recount },
  { name: "forget allowances", pieces: 20, work: forgetAllowances },
  { name: "forget addresses", pieces: 20, work: forgetAddresses },
  { name: "forget spans", pieces: 20, work: forgetSpans },
  { name: "forget deliveries", pieces: 20, work: forgetDeliveries },
  { name: "re-check manifests", pieces: 5, work: scheduleRechecks },
  { name: "expire certifications", pieces: 5, work: expireCertifications },
  { name: "tell of certifications that end", pieces: 5, work: remindOfEnds },
  { name: "rescue certifications", pieces: 1, work: rescueCertifications },
  { name: "rescue runs", pieces: 3, work: rescueRuns },
  { name: "settle sessions", pieces: 2, work: settleForgotten },
  { name: "reconcile payments", pieces: 1, work: (ctx, cursor, lastDone) => reconcile(ctx, TAKERS, cursor, lastDone) },
  { name: "fail purchases without a page", pieces: 20, work: failLeftPurchases },
  { name: "look at sellers again", pieces: 1, work: lookAtSellersAgain },
  { name: "forget provider events", pieces: 20, work: forgetProviderEvents },
  { name: "catch up with the log", pieces: 20, work: catchUp },
  { name: "forget keys", pieces: 20, work: forgetResults },
  { name: "forget notices", pieces: 20, work: forgetNotices },
  { name: "forget sign-ins", pieces: 20, work: forgetMarks },
  { name: "forget device codes", pieces: 20, work: forgetDevices },
  { name: "forget mailed tokens", pieces: 20, work: forgetTokens },
];
