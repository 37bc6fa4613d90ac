import { encode } from "uqr";

/** Modules of white around a code, as ISO/IEC 18004 asks for. */
const BORDER = 4;

/** A text as a QR code that a phone reads off the screen: black on white, however dark the page is. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: BORDER });
  const path = data.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`));
  return (
    <svg width="240" height="240" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join("")} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

/** The dark modules of a row: where each unbroken run of them begins, and how long it is. */
function runsOf(row: readonly boolean[]): [x: number, length: number][] {
  const runs: [x: number, length: number][] = [];
  row.forEach((dark, x) => {
    const last = runs.at(-1);
    if (!dark) return;
    if (last !== undefined && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
