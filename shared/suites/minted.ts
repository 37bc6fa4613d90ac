import { templatesBySample } from "../templates/index.ts";
import type { CoreTemplate } from "../templates/types.ts";
import { sealedTemplates } from "./secret/index.ts";

/** What a run's instance is drawn from. */
export type Mintable = Pick<CoreTemplate, "id" | "version" | "mint">;

/** The template that a secret or an open task finds by its `family`; undefined where there is none any more. */
export function mintableOf(name: string, isSecret: boolean): Mintable | undefined {
  return isSecret ? sealedTemplates.get(name) : templatesBySample.get(name);
}
