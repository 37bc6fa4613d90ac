import type { CoreTemplate } from "../../types.ts";
import { choirAverage } from "./choir-average.ts";
import { customerMessage } from "./customer-message.ts";
import { productPage } from "./product-page.ts";
import { scannedReceipts } from "./scanned-receipts.ts";

/** The templates of the domain `robustness`. */
export const robustness: readonly CoreTemplate[] = [customerMessage, productPage, scannedReceipts, choirAverage];
