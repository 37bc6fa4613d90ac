import { createHash } from "node:crypto";
import { secretSuites } from "../../../../shared/suites/secret/index.ts";
import { randomFrom } from "../../../../shared/templates/random.ts";
import type { MintedTask, SecretTemplate } from "../../../../shared/suites/secret/types.ts";

/** The templates of all secret suites. */
export const templates = secretSuites.flatMap((suite) => suite.templates);

/** The draws 0 to `count` - 1 of a template; each has its own fixed seed. */
export function drawMany(template: SecretTemplate, count: number): MintedTask[] {
  return Array.from({ length: count }, (_, number) => template.draw(randomFrom(seedOf(template, number))));
}

/** The seed of the draw with this number. */
export function seedOf({ id }: Pick<SecretTemplate, "id">, number: number): Uint8Array {
  return createHash("sha256").update(`${id} ${number}`).digest();
}
