import { createHmac } from "node:crypto";
import canonicalize from "canonicalize";
import { openSecret } from "../../../shared/epochs/secret.ts";
import { parseKeyring } from "../../../shared/platform/encryption.ts";
import { core } from "../../../shared/suites/public/core/index.ts";
import { samples } from "../../../shared/templates/index.ts";
import { SecondGenerator } from "../../unit/templates/second-generator.ts";
import { mathSolvers } from "../../unit/templates/solvers/math.ts";
import type { Asked } from "../../unit/templates/solvers/support.ts";
import { type Handler, json } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";

/** What an agent is told of a run. */
export interface Told {
  run_id: string;
  /** Members that the task has not are left out of the request. */
  task: Partial<Asked> & { prompt: string };
}

export const told = (body: Uint8Array): Told => JSON.parse(Buffer.from(body).toString()) as Told;

/** The slugs of the minted tasks of the domain math. */
export const MATH = Object.keys(samples).filter((slug) => slug.startsWith("core-math-"));

/** The published key of a sample. */
export const keyOf = (slug: string) => core.tasks.find((task) => task.slug === slug)?.expected_output ?? null;

/** The ids of the tasks with these slugs, in their order. */
export async function tasksBySlug(service: TestService, slugs: readonly string[]): Promise<Map<string, string>> {
  const rows = await service.sql<{ slug: string; id: string }>(
    "select slug, id from tasks where is_active and slug = any($1) order by array_position($1, slug)",
    [slugs],
  );
  return new Map(rows.map(({ slug, id }) => [slug, id]));
}

/** Works a task of the domain math out from what it says. */
export const honest: Handler = ({ body }) => {
  const { input = null, tools = null, output_schema = null, prompt } = told(body).task;
  for (const solver of Object.values(mathSolvers)) {
    try {
      return json(200, { output: solver({ prompt, input, tools, output_schema }) });
    } catch {
      // Written for another family.
    }
  }
  return json(200, { output: null });
};

/** The secret of an open epoch, as it will be published. */
export async function secretOf(service: TestService, epoch: string): Promise<Uint8Array> {
  const [row] = await service.sql<{ sealed: string }>("select sealed from epochs where kind = 'open' and name = $1", [
    epoch,
  ]);
  return openSecret(row?.sealed ?? "", parseKeyring(service.settings));
}

/** HMAC-SHA-256 under an epoch's secret over the RFC 8785 form of the parts. */
export function derived(secret: Uint8Array, parts: unknown): Buffer {
  return createHmac("sha256", secret)
    .update(canonicalize(parts) ?? "")
    .digest();
}

/** The places of the canaries among the first `runs` of a session, from 0, found from the text of the templates alone. */
export function canaryPlaces(secret: Uint8Array, session: string, runs: number): number[] {
  const blocks = Array.from({ length: Math.ceil(runs / 10) }, (_none, block) => block);
  return blocks
    .map(
      (block) =>
        10 * block + new SecondGenerator(derived(secret, ["canary", session, block]).toString("hex")).int(0, 9),
    )
    .filter((place) => place < runs);
}
