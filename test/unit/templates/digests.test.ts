import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalBytes } from "../../../shared/platform/canonical.ts";
import { core } from "../../../shared/suites/public/core/index.ts";
import { secretSuites } from "../../../shared/suites/secret/index.ts";
import { templates } from "../../../shared/templates/index.ts";
import { drawMany } from "../catalogue/template-checks/draws.ts";
import { instanceOf } from "./draws.ts";

const INSTANCES = 16;
const numbers = Array.from({ length: INSTANCES }, (_, number) => number);
const domains = new Set(core.tasks.map(({ domain }) => domain));

function digest(instances: readonly unknown[]): string {
  return createHash("sha256").update(canonicalBytes(instances)).digest("hex");
}

/** A file of digests; `-u` writes it anew. */
async function expectKept(file: string, entries: [string, string][]): Promise<void> {
  const text = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(`digests/${file}.json`);
}

test.each([...domains])("%s: no instance of a template changes without a new version", async (domain) => {
  const slugs = core.tasks.filter((task) => task.domain === domain).map(({ slug }) => slug);
  const own = templates.filter(({ sample }) => slugs.includes(sample));
  const entries = own.map((template): [string, string] => [
    `${template.id}@${template.version}`,
    digest(numbers.map((number) => instanceOf(template, number))),
  ]);
  await expectKept(domain.replaceAll("_", "-"), entries);
});

test.each(secretSuites)(
  "$slug: no instance of a template changes without a new version",
  async ({ slug, templates: own }) => {
    await expectKept(
      slug,
      own.map((template) => [`${template.id}@${template.version}`, digest(drawMany(template, INSTANCES))]),
    );
  },
);
