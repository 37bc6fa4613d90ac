import type * as z from "zod";
import { RunOutput } from "../../../shared/runs/records-shown.ts";
import type { ApiClient } from "./client.ts";

const AT_ONCE = 8;

/** What the owner of runs may read of each, by the run's id. */
export type Outputs = ReadonlyMap<string, z.output<typeof RunOutput>>;

/** Reads what each of the runs was asked and answered, once: a minute has no room for reading it twice. */
export async function readOutputs(api: ApiClient, runs: readonly { id: string }[]): Promise<Outputs> {
  const outputs = new Map<string, z.output<typeof RunOutput>>();
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    const some = runs.slice(from, from + AT_ONCE);
    const read = await Promise.all(some.map(({ id }) => api.get(`/api/v1/runs/${id}/output`, RunOutput)));
    for (const [index, { id }] of some.entries()) {
      const output = read[index];
      if (output !== undefined) outputs.set(id, output);
    }
  }
  return outputs;
}
