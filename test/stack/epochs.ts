import { epochsFrom } from "../../shared/epochs/calendar.ts";
import { newSecret } from "../../shared/epochs/secret.ts";
import { parseEnv } from "../../shared/platform/env.ts";
import type { Settings } from "./settings.ts";

const KINDS = ["open", "sealed"] as const;
/** Two months of days, so that a test's clock may jump. */
const COUNT = 60;

/**
 * The statement, with its parameter, that gives a database the epochs of a service that has run for a while: committed to
 * in time, from three days before `at` on. It spares each test file the triggers and the log that this takes otherwise.
 */
export function committedEpochs(settings: Settings, at: Date): [text: string, params: [string]] {
  const { EPOCH_SECONDS: seconds, DATA_ENCRYPTION_KEYS: keys } = parseEnv(settings);
  const spans = epochsFrom(new Date(at.getTime() - 3000 * seconds), seconds, COUNT);
  const rows = KINDS.flatMap((kind) => spans.map((span, n) => ({ kind, ...span, ...newSecret(keys), log_index: n })));
  const text = `insert into epochs (kind, name, starts_at, ends_at, sealed, commitment, log_index, created_at, committed_at, is_timely)
    select kind, name, starts_at, ends_at, sealed, commitment, log_index, starts_at - interval '9 days', starts_at - interval '9 days', true
    from jsonb_to_recordset($1) as e(kind text, name text, starts_at timestamptz, ends_at timestamptz, sealed text,
      commitment text, log_index bigint)`;
  return [text, [JSON.stringify(rows)]];
}
