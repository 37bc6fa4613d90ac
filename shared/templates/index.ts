import { coding } from "./core/coding/index.ts";
import { dataExtraction } from "./core/data-extraction/index.ts";
import { instructionFollowing } from "./core/instruction-following/index.ts";
import { math } from "./core/math/index.ts";
import { planning } from "./core/planning/index.ts";
import { reasoning } from "./core/reasoning/index.ts";
import { retrieval } from "./core/retrieval/index.ts";
import { robustness } from "./core/robustness/index.ts";
import { safety } from "./core/safety/index.ts";
import { toolUse } from "./core/tool-use/index.ts";
import type { CoreTemplate } from "./types.ts";

/** The templates of the suite `core`, in the order of its domains. */
export const templates: readonly CoreTemplate[] = [
  ...reasoning,
  ...math,
  ...coding,
  ...dataExtraction,
  ...toolUse,
  ...instructionFollowing,
  ...planning,
  ...retrieval,
  ...safety,
  ...robustness,
];

/** The templates by their ids. */
export const templatesById: ReadonlyMap<string, CoreTemplate> = new Map(
  templates.map((template) => [template.id, template]),
);

/** Which template each task is the sample of, by the task's slug. */
export const samples: Readonly<Record<string, { id: string; version: number }>> = Object.fromEntries(
  templates.map(({ id, version, sample }) => [sample, { id, version }]),
);

/** The templates by the slugs of their samples. */
export const templatesBySample: ReadonlyMap<string, CoreTemplate> = new Map(
  templates.map((template) => [template.sample, template]),
);
