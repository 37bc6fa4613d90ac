import type { Writable } from "node:stream";

/** Where a command prints, and what it is told by its surroundings. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
}

const COLORS = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 } as const;

/** Prints lines of a result. */
export function print({ stdout }: Terminal, ...lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** Prints a note that is no part of a result. */
export function note({ stderr }: Terminal, line: string): void {
  stderr.write(`${line}\n`);
}

/** The text in a color where the result goes to a terminal that shall have colors, else as it is. */
export function colored(terminal: Terminal, color: keyof typeof COLORS, text: string): string {
  const uncolored = terminal.stdout.isTTY !== true || (terminal.env["NO_COLOR"] ?? "") !== "";
  return uncolored ? text : `\u001b[${COLORS[color]}m${text}\u001b[0m`;
}

/** What others wrote, without the characters that steer a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, " ");
}

/** `text` cut to `width` characters. */
export function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
}

/** The heading of a column of numbers. */
interface Numbers {
  numbers: string;
}

/** The heading of a column whose cells stand to the right: told of each, since a name may look like a number, too. */
export function numbers(heading: string): Numbers {
  return { numbers: heading };
}

/** Rows in columns under headings. */
export function table(headings: readonly (string | Numbers)[], rows: readonly (readonly string[])[]): string[] {
  const columns = headings.map((heading, at) => {
    const [right, text] = typeof heading === "string" ? [false, heading] : [true, heading.numbers];
    const cells = [text, ...rows.map((row) => row[at] ?? "")];
    const width = cells.reduce((most, { length }) => Math.max(most, length), 0);
    return cells.map((cell) => (right ? cell.padStart(width) : cell.padEnd(width)));
  });
  return [-1, ...rows.keys()].map((at) =>
    columns
      .map((column) => column[at + 1] ?? "")
      .join("  ")
      .trimEnd(),
  );
}
