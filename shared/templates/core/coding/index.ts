import type { CoreTemplate } from "../../types.ts";
import { cronFields } from "./cron-fields.ts";
import { javaMergeLine } from "./java-merge-line.ts";
import { pythonCollect } from "./python-collect.ts";
import { sqlPaidTrips } from "./sql-paid-trips.ts";

/** The templates of the domain `coding`. */
export const coding: readonly CoreTemplate[] = [pythonCollect, javaMergeLine, sqlPaidTrips, cronFields];
