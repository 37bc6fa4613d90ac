/** What is measured, against what, and how much more it may take. */
export interface Figure {
  name: string;
  /** The ratio, or a plain figure where nothing is compared. */
  value: number;
  unit: "×" | "KB" | "ms" | "requests" | "rows/s" | "runs/s";
  budget: number;
  /** `most`: the value may be at most the budget; `least`: it must be at least that. */
  kind: "most" | "least";
  /** The least and the most that were measured, where the value is the median. */
  spread?: Spread;
  /** What it is measured beyond, where the name does not say so. */
  against?: string | undefined;
  /**
   * How many times as long as the machine that the budget was made for this one took meanwhile: for work that fills memory,
   * unless the figure comes with a pace of its own.
   */
  pace?: number;
}

/** Takes a figure up into the table. */
export type Add = (figure: Figure) => void;

/** The ends of what was measured. */
export interface Spread {
  min: number;
  max: number;
}

/** A median, and the ends of what it is the median of. */
export interface Measured {
  value: number;
  spread: Spread;
}

/** The median of some figures with their ends. */
export function measured(values: readonly number[]): Measured {
  return { value: median(values), spread: spreadOf(values) };
}

/** Milliseconds that `work` took. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The median of some figures. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value that such a share of some figures does not exceed: of 0.99, all but one in a hundred. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

/** A percentile of what all rounds measured, with the ends of those of single rounds. */
export function percentileOf(rounds: readonly (readonly number[])[], share: number): Measured {
  return {
    value: percentile(rounds.flat(), share),
    spread: spreadOf(rounds.map((values) => percentile(values, share))),
  };
}

/** The least and the most of some figures. */
export function spreadOf(values: readonly number[]): Spread {
  return { min: Math.min(...values), max: Math.max(...values) };
}

/** Of how many parts of all pairs the ends are told: a single pair says more of the machine than of what it ran. */
const PARTS = 10;

/**
 * How much longer `subject` takes than `base`: both are run in turn, each as often the first of a pair, after a warm-up, and
 * the ratio of their medians is taken, so that a machine whose speed drifts slows both. The ends are those of tenths of the
 * pairs, in the order in which they were run. Before each of the two, `settle` waits, untimed, for what the last one left
 * behind.
 */
export async function ratio(
  rounds: number,
  subject: (round: number) => Promise<unknown>,
  base: (round: number) => Promise<unknown>,
  { warmUp = 3, settle = async () => {} }: { warmUp?: number; settle?: () => Promise<void> } = {},
): Promise<Measured> {
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    await settle();
    return time(work);
  };
  const subjects: number[] = [];
  const bases: number[] = [];
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const first = round % 2 === 0 ? await timed(() => base(round)) : null;
    const took = await timed(() => subject(round));
    const baseTook = first ?? (await timed(() => base(round)));
    if (round < warmUp) continue;
    bases.push(baseTook);
    subjects.push(took);
  }
  const size = Math.ceil(rounds / PARTS);
  const starts = Array.from({ length: Math.ceil(rounds / size) }, (_, part) => part * size);
  const of = (all: number[], start: number): number => median(all.slice(start, start + size));
  return {
    value: median(subjects) / median(bases),
    spread: spreadOf(starts.map((start) => of(subjects, start) / of(bases, start))),
  };
}

/**
 * Prints the figures as a table: what each is compared with, its least, median and greatest value, and its budget. Returns
 * how many are over budget.
 */
export function report(figures: readonly Figure[]): number {
  const rows = figures.map(cellsOf);
  const lines = [["", "compared with", "least", "median", "most", "", "budget", ""], ...rows];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      VALUES.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(cells.join("  ").trimEnd());
  }
  return rows.filter((row) => row.at(-1) !== "").length;
}

/** One figure as it stands in the table, by itself. */
export function lineOf(figure: Figure): string {
  const [, , least, middle, most, ...rest] = cellsOf(figure);
  return [`${figure.name}:`, middle, `(${least} to ${most})`, ...rest].join(" ").trimEnd();
}

function cellsOf(figure: Figure): string[] {
  const { value, unit, kind, spread = { min: value, max: value } } = figure;
  const [budget, reckoned] = budgetOf(figure);
  const isKept = kind === "most" ? value <= budget : value >= budget;
  const values = [spread.min, value, spread.max].map((one) => one.toFixed(2));
  return [...compared(figure), ...values, unit, `${kind === "most" ? "≤" : "≥"} ${reckoned}`, isKept ? "" : "OVER"];
}

/** What a figure may be on this machine, and how that is reckoned: of a slower one's times more, of its rates less. */
function budgetOf({ unit, budget, pace = 1 }: Figure): [budget: number, reckoned: string] {
  const isTime = unit === "ms";
  if (pace === 1 || (!isTime && !unit.endsWith("/s"))) return [budget, `${budget}`];
  return [isTime ? budget * pace : budget / pace, `${budget} ${isTime ? "×" : ":"} ${pace.toFixed(1)}`];
}

/** The columns of numbers. */
const VALUES = new Set([2, 3, 4]);

/** What is measured, and what it is compared with: named apart, behind a stroke, or a size that stands for itself. */
function compared({ name, against }: Figure): [string, string] {
  const [subject = name, base] = name.split(" / ");
  return [against === undefined ? subject : name, against ?? base ?? "nothing"];
}
