import type { CoreTemplate } from "../../types.ts";
import { libraryNotice } from "./library-notice.ts";
import { observatoryPlan } from "./observatory-plan.ts";
import { tentList } from "./tent-list.ts";
import { wordEdits } from "./word-edits.ts";

/** The templates of the domain `instruction_following`. */
export const instructionFollowing: readonly CoreTemplate[] = [libraryNotice, tentList, observatoryPlan, wordEdits];
