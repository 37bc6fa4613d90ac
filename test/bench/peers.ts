import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sessionRatios } from "./better-auth.ts";
import type { Bench } from "./beside.ts";
import type { Figure } from "./measure.ts";
import { evaluationRatios } from "./promptfoo.ts";
import { RUNS } from "./sessions.ts";

/** Has the packages that are compared with, which nothing else of the project needs. */
const PEERS = fileURLToPath(new URL("./peers/", import.meta.url));

/** The service over what others made for the same jobs; installs what is compared with. */
export async function peerFigures(bench: Bench): Promise<Figure[]> {
  // None of the packages needs its script to run.
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", args, { cwd: PEERS, stdio: ["ignore", "ignore", "inherit"] });
  const { asItComes, joined } = await sessionRatios(bench, PEERS);
  const { whole, evaluation } = await evaluationRatios(bench, PEERS);
  const database = "same database, no cookie cache";
  return [
    {
      name: "session check",
      ...asItComes,
      unit: "×",
      kind: "most",
      budget: 1,
      against: `better-auth 1.7.0 in workerd, ${database}`,
    },
    {
      name: "session check, with better-auth's joins on",
      ...joined,
      unit: "×",
      kind: "most",
      budget: 1,
      against: `better-auth 1.7.0 in workerd, ${database}, one statement`,
    },
    {
      name: `screening of ${RUNS} runs, from submission to end`,
      ...whole,
      unit: "×",
      kind: "most",
      budget: 0.6,
      against: "promptfoo 0.123.1 -j4, from its command to its end",
    },
    {
      name: `screening of ${RUNS} runs, from submission to end, beside its evaluation alone`,
      ...evaluation,
      unit: "×",
      kind: "most",
      budget: 1,
      against: "promptfoo 0.123.1 -j4 by its own clock",
    },
  ];
}
