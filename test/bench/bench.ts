/**
 * `npm run bench`: the budgets as ratios measured in one run, on the stack as `npm run dev` starts it. `npm run bench --
 * NAME ...` measures these parts alone; `-- peers`, measured only where it is named, installs what others made for the same
 * jobs and compares with it; `-- forgery` plays the known ways to cheat instead.
 */
import { startBench } from "./beside.ts";
import { forgeryTable } from "./forgery.ts";
import { type Add, type Figure, lineOf, report, time } from "./measure.ts";
import { NAMED, PARTS, partsOf } from "./parts.ts";

/** What all parts may take together, on a machine of two cores that does nothing else. */
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
const add: Add = (name, value, unit, kind, budget, against) => {
  const figure: Figure = { name, ...(typeof value === "number" ? { value } : value), unit, kind, budget, against };
  figures.push(figure);
  console.error(lineOf(figure));
};

const failed: string[] = [];
const bench = await startBench();
try {
  for (const [name, measure] of partsOf(names)) {
    // What one part can't measure takes nothing from the others.
    const took = await time(async () => {
      await measure(bench, add);
      await bench.settled();
    }).catch((error: unknown) => {
      failed.push(name);
      console.error(`${name} could not be measured:`, error);
    });
    if (took !== undefined) console.error(`${name} took ${(took / 1000).toFixed(1)} s`);
  }
} finally {
  await bench.stop();
}

const seconds = (performance.now() - begun) / 1000;
const late = names.length === 0 && seconds > MOST_SECONDS;
console.log("");
const over = report(figures);
console.log(`\nall of it took ${seconds.toFixed(0)} s${late ? `, more than ${MOST_SECONDS}: OVER` : ""}`);
if (failed.length > 0) console.log(`\nnot measured: ${failed.join(", ")}`);
process.exitCode = over === 0 && failed.length === 0 && !late ? 0 : 1;
