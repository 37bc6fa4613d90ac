import * as z from "zod";
import { RunRead } from "../runs/shown.ts";

const Part = z.record(z.string(), z.unknown());

/** A run as `runParts` gives it: what everybody is shown, and what its owner or everybody else is shown besides. */
export const RunParts = z.object({ all: Part, own: Part, others: Part });

/** The run as its owner and members (`isOwn`) or everybody else is shown it: what `runJson` gives, parsed. */
export function runFor({ all, own, others }: z.output<typeof RunParts>, isOwn: boolean): z.output<typeof RunRead> {
  return RunRead.parse({ ...all, ...(isOwn ? own : others) });
}
