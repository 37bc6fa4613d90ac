/**
 * `npm run bench`: the budgets as ratios measured in one run, on the stack as `npm run dev` starts it. `npm run bench --
 * NAME ...` measures these parts alone; `-- peers`, measured only where it is named, installs what others made for the same
 * jobs and compares with it; `-- forgery` plays the known ways to cheat instead.
 */
import { startBench } from "./beside.ts";
import { forgeryTable } from "./forgery.ts";
import { type Add, type Figure, lineOf, report, time } from "./measure.ts";
import { paceNow } from "./pace.ts";
import { NAMED, PARTS, partsOf } from "./parts.ts";

/** What all parts may take together, on two cores of the pace that the budgets were made for and that do nothing else. */
const MOST_SECONDS = 600;

const begun = performance.now();
const names = process.argv.slice(2);
if (names[0] === "forgery") process.exit((await forgeryTable()) ? 0 : 1);
const known = Object.keys({ ...PARTS, ...NAMED });
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}; there are ${known.join(", ")}, and forgery.`);
  process.exit(2);
}

const figures: Figure[] = [];
let slowest = 1;
const failed: string[] = [];
const bench = await startBench();
try {
  for (const [name, measure] of partsOf(names)) {
    const own: Figure[] = [];
    const add: Add = (figure) => void own.push(figure);
    const before = await paceNow();
    // What one part can't measure takes nothing from the others.
    const took = await time(async () => {
      await measure(bench, add);
      await bench.settled();
    }).catch((error: unknown) => {
      failed.push(name);
      console.error(`${name} could not be measured:`, error);
    });
    const pace = (before + (await paceNow())) / 2;
    slowest = Math.max(slowest, pace);
    for (const figure of own.map((one) => ({ ...one, pace: one.pace ?? pace }))) {
      figures.push(figure);
      console.error(lineOf(figure));
    }
    if (took !== undefined) console.error(`${name} took ${(took / 1000).toFixed(1)} s`);
  }
} finally {
  await bench.stop();
}

const seconds = (performance.now() - begun) / 1000;
const mostSeconds = Math.round(MOST_SECONDS * slowest);
const late = names.length === 0 && seconds > mostSeconds;
console.log("");
const over = report(figures);
if (slowest > 1) console.log(`\nthis machine took up to ${slowest.toFixed(1)} times as long as the budgets' own`);
console.log(`\nall of it took ${seconds.toFixed(0)} s${late ? `, more than ${mostSeconds}: OVER` : ""}`);
if (failed.length > 0) console.log(`\nnot measured: ${failed.join(", ")}`);
process.exitCode = over === 0 && failed.length === 0 && !late ? 0 : 1;
