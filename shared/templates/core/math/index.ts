import type { CoreTemplate } from "../../types.ts";
import { archiveScanDate } from "./archive-scan-date.ts";
import { ferryReserve } from "./ferry-reserve.ts";
import { invoiceRounding } from "./invoice-rounding.ts";
import { slabRows } from "./slab-rows.ts";

/** The templates of the domain `math`. */
export const math: readonly CoreTemplate[] = [ferryReserve, invoiceRounding, archiveScanDate, slabRows];
