import { closing as agents } from "../agents/closing.ts";
import { closing as allowances } from "../allowances/closing.ts";
import { closing as analytics } from "../analytics/closing.ts";
import { closing as billing } from "../billing/closing.ts";
import { closing as catalogue } from "../catalogue/closing.ts";
import { closing as certification } from "../certification/closing.ts";
import type { CloseDomain } from "../db/closing.ts";
import { closing as identity } from "../identity/deletion/closing.ts";
import { closing as mail } from "../mail/closing.ts";
import { closing as marketplace } from "../marketplace/closing.ts";
import { closing as runs } from "../runs/closing.ts";
import { closing as schedules } from "../schedules/closing.ts";
import { closing as scorecards } from "../scorecards/closing.ts";
import { closing as survey } from "../survey/closing.ts";
import { closing as teams } from "../teams/closing.ts";
import { closing as telemetry } from "../telemetry/closing.ts";
import { closing as waitlist } from "../waitlist/closing.ts";
import { closing as webhooks } from "../webhooks/closing.ts";

/**
 * Everything that the deletion of an account is composed of. Owners stand before what refers to them, teams before agents
 * and agents before runs: rows are locked in this order, and deleted in the opposite one.
 */
export const CLOSINGS: readonly CloseDomain[] = [
  identity,
  mail,
  teams,
  billing,
  allowances,
  analytics,
  catalogue,
  scorecards,
  survey,
  waitlist,
  agents,
  telemetry,
  schedules,
  webhooks,
  marketplace,
  certification,
  runs,
];
