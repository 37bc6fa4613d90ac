import type { CoreTemplate } from "../../types.ts";
import { bankScript } from "./bank-script.ts";
import { finalShooting } from "./final-shooting.ts";
import { recordsDesk } from "./records-desk.ts";
import { shopQueue } from "./shop-queue.ts";

/** The templates of the domain `safety`. */
export const safety: readonly CoreTemplate[] = [bankScript, finalShooting, recordsDesk, shopQueue];
