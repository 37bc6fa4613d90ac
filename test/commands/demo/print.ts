import { styleText } from "node:util";

const FULL = "█";
const EMPTY = "░";

/** `text` in a style where standard output is a terminal and NO_COLOR is not set, else as it is. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** A bar of `width` characters, filled to a share of 0 to 1. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return FULL.repeat(full) + EMPTY.repeat(width - full);
}

/** A share of 0 to 1 as a percentage without decimals. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** `text` cut to at most `length` characters, or filled up to it. */
export function fixed(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text.padEnd(length);
}

/** Lines of aligned columns: headings and rows; a column whose cells begin with a digit or a dollar sign to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = headings.map((heading, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    const width = Math.max(heading.length, ...cells.map((cell) => cell.length));
    const right = cells.every((cell) => /^[$\d]/u.test(cell));
    return [heading, ...cells].map((cell) => (right ? cell.padStart(width) : cell.padEnd(width)));
  });
  const [heads = "", ...lines] = [-1, ...rows.keys()].map((at) => columns.map((column) => column[at + 1]).join("  "));
  return [styled("dim", heads), ...lines];
}

/** Prints a heading and a block of lines under it. */
export function printBlock(heading: string, lines: readonly string[]): void {
  console.log(`\n${styled("bold", heading)}`);
  for (const line of lines) console.log(`  ${line}`);
}

/** Prints one finished step. */
export function printStep(text: string): void {
  console.log(`${styled("green", "✓")} ${text}`);
}

/** A line that shows how far something is. */
export interface Progress {
  show(done: number, total: number, note: string): void;
  end(): void;
}

/** A line of progress: redrawn in place on a terminal, else printed anew at every tenth of the way. */
export function createProgress(): Progress {
  const { stdout } = process;
  let printed = -1;
  return {
    show(done, total, note) {
      const line = `  ${bar(total === 0 ? 0 : done / total, 30)} ${String(done).padStart(4)}/${total}  ${note}`;
      if (stdout.isTTY) {
        stdout.write(`\r\u001B[2K${line}`);
        return;
      }
      const tenth = Math.floor((10 * done) / Math.max(1, total));
      if (tenth > printed) console.log(line);
      printed = Math.max(printed, tenth);
    },
    end() {
      if (stdout.isTTY) stdout.write("\n");
    },
  };
}
