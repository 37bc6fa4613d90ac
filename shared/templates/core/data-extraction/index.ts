import type { CoreTemplate } from "../../types.ts";
import { correctedInvoice } from "./corrected-invoice.ts";
import { crateRadio } from "./crate-radio.ts";
import { dinnerThread } from "./dinner-thread.ts";
import { gatewayLog } from "./gateway-log.ts";

/** The templates of the domain `data_extraction`. */
export const dataExtraction: readonly CoreTemplate[] = [correctedInvoice, gatewayLog, dinnerThread, crateRadio];
