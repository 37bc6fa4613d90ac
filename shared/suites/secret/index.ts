import { codingTemplates } from "./coding.ts";
import { dataExtractionTemplates } from "./data-extraction.ts";
import { instructionFollowingTemplates } from "./instruction-following.ts";
import { mathTemplates } from "./math.ts";
import { planningTemplates } from "./planning.ts";
import { randomFrom } from "../../templates/random.ts";
import { reasoningTemplates } from "./reasoning.ts";
import { retrievalTemplates } from "./retrieval.ts";
import { robustnessTemplates } from "./robustness.ts";
import { safetyTemplates } from "./safety.ts";
import { templateSeed } from "./seed.ts";
import { toolUseTemplates } from "./tool-use.ts";
import type { MintedTask, SecretSuite, SecretTemplate } from "./types.ts";

/** The secret suites; their templates together cover all ten domains. */
export const secretSuites: SecretSuite[] = [
  {
    slug: "sealed-reasoning",
    name: "Sealed Reasoning",
    description:
      "Logic, arithmetic, planning and code reading. Every run gets an instance of its own; none is ever published.",
    templates: [...reasoningTemplates, ...mathTemplates, ...planningTemplates, ...codingTemplates],
  },
  {
    slug: "sealed-work",
    name: "Sealed Work",
    description:
      "Documents, tools, instructions and conduct under pressure. Every run gets an instance of its own; none is ever published.",
    templates: [
      ...dataExtractionTemplates,
      ...retrievalTemplates,
      ...toolUseTemplates,
      ...instructionFollowingTemplates,
      ...safetyTemplates,
      ...robustnessTemplates,
    ],
  },
];

/** The secret templates by the slugs of their tasks without the version of the suite. */
export const sealedTemplates: ReadonlyMap<string, SecretTemplate> = new Map(
  secretSuites.flatMap(({ slug, templates }) => templates.map((template) => [`${slug}-${template.id}`, template])),
);

/**
 * All tasks of a secret suite at one version, in the order of its templates. The same key, suite and version give the
 * same tasks, so a rotation that is repeated after a failure changes nothing. RangeError on a key under 32 bytes.
 */
export function mintSuite(
  secretKey: Uint8Array,
  suite: SecretSuite,
  version: number,
): (MintedTask & { slug: string })[] {
  return suite.templates.map((template) => ({
    slug: `${suite.slug}-v${version}-${template.id}`,
    ...template.draw(randomFrom(templateSeed(secretKey, suite.slug, version, template.id))),
  }));
}
