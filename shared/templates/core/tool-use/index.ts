import type { CoreTemplate } from "../../types.ts";
import { courierDetails } from "./courier-details.ts";
import { heatingPlan } from "./heating-plan.ts";
import { rebookWorkshop } from "./rebook-workshop.ts";
import { reorderPacks } from "./reorder-packs.ts";

/** The templates of the domain `tool_use`. */
export const toolUse: readonly CoreTemplate[] = [rebookWorkshop, reorderPacks, courierDetails, heatingPlan];
