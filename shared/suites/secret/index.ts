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
import type { MintedTask, SecretSuite } from "./types.ts";

/** The secret suites; their templates together cover all ten domains. */
export const secretSuites: SecretSuite[] = [
  {
    slug: "sealed-reasoning",
    name: "Sealed Reasoning",
    description:
      "Logic, arithmetic, planning and code reading. Every rotation draws new instances; none is ever published.",
    templates: [...reasoningTemplates, ...mathTemplates, ...planningTemplates, ...codingTemplates],
  },
  {
    slug: "sealed-work",
    name: "Sealed Work",
    description:
      "Documents, tools, instructions and conduct under pressure. Every rotation draws new instances; none is ever published.",
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
    ...template.mint(randomFrom(templateSeed(secretKey, suite.slug, version, template.id))),
  }));
}
