import type { CoreTemplate } from "../../types.ts";
import { cablewayRefund } from "./cableway-refund.ts";
import { hutQuestions } from "./hut-questions.ts";
import { sealantNotes } from "./sealant-notes.ts";
import { surveyKey } from "./survey-key.ts";

/** The templates of the domain `retrieval`. */
export const retrieval: readonly CoreTemplate[] = [cablewayRefund, sealantNotes, surveyKey, hutQuestions];
