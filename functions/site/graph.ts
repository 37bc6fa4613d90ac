/** An arrow of a drawing, between the names of two boxes. */
export interface Arrow {
  from: string;
  to: string;
  count: number;
}

/** A box of a drawing: its top left corner. */
export interface Box {
  name: string;
  x: number;
  y: number;
}

/** A drawing of boxes and arrows, in pixels. */
export interface Drawing {
  width: number;
  height: number;
  boxes: Box[];
  arrows: (Arrow & { path: string })[];
  /** How many arrows were left out, to keep the drawing readable. */
  omitted: number;
}

/** The size of a box. */
export const BOX = { width: 190, height: 46 };
const GAP = { x: 80, y: 18 };
const MARGIN = 8;
const MAX_BOXES = 24;

/**
 * Lays a call graph out from left to right: each name in the column of its distance from `root`, in the order of the
 * arrows. The first arrows are drawn, as many as have 24 boxes together.
 */
export function draw(root: string, arrows: readonly Arrow[]): Drawing {
  const names = new Set([root]);
  const drawn = arrows.filter(({ from, to }) => {
    const more = new Set([from, to].filter((name) => !names.has(name)));
    if (names.size + more.size > MAX_BOXES) return false;
    for (const name of more) names.add(name);
    return true;
  });
  const columns = columnsOf(root, names, drawn);
  const tallest = Math.max(...columns.map(({ length }) => length));
  const height = tallest * (BOX.height + GAP.y) - GAP.y;
  const boxes = columns.flatMap((column, index) =>
    column.map((name, row) => ({
      name,
      x: MARGIN + index * (BOX.width + GAP.x),
      y: MARGIN + row * (BOX.height + GAP.y) + ((tallest - column.length) * (BOX.height + GAP.y)) / 2,
    })),
  );
  const at = new Map(boxes.map((box) => [box.name, box]));
  return {
    // An arrow between boxes of the last column needs the gap beside it.
    width: 2 * MARGIN + columns.length * (BOX.width + GAP.x) - GAP.x / 2,
    height: 2 * MARGIN + height,
    boxes,
    arrows: drawn.flatMap((arrow) => {
      const [from, to] = [at.get(arrow.from), at.get(arrow.to)];
      return from === undefined || to === undefined ? [] : [{ ...arrow, path: pathBetween(from, to) }];
    }),
    omitted: arrows.length - drawn.length,
  };
}

/**
 * The names by their distance from `root` along the arrows; names that can't be reached from it are placed beside it.
 */
function columnsOf(root: string, names: ReadonlySet<string>, arrows: readonly Arrow[]): string[][] {
  const called = new Set(arrows.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const placed = new Set<string>();
  const columns: string[][] = [];
  const spread = (from: string[]) => {
    for (let [column, index] = [from, 0]; column.length > 0; index += 1) {
      for (const name of column) placed.add(name);
      columns[index] = [...(columns[index] ?? []), ...column];
      const next = arrows.filter((arrow) => column.includes(arrow.from) && !placed.has(arrow.to)).map(({ to }) => to);
      column = [...new Set(next)];
    }
  };
  spread([root]);
  spread([...names].filter((name) => !placed.has(name) && !called.has(name)));
  for (const name of names) if (!placed.has(name)) spread([name]);
  return columns;
}

/** A curve from box to box: rightward between columns, bulging within one, and back from left to right. */
function pathBetween(from: Box, to: Box): string {
  const [y1, y2] = [from.y + BOX.height / 2, to.y + BOX.height / 2];
  const [left, right] = [(box: Box) => box.x, (box: Box) => box.x + BOX.width];
  if (from === to) {
    const [x, reach] = [right(from), right(from) + GAP.x / 3];
    return `M${x},${y1 - 10} C${reach},${y1 - 18} ${reach},${y1 + 18} ${x},${y1 + 10}`;
  }
  if (from.x === to.x) {
    const [x, reach] = [right(from), right(from) + GAP.x / 2];
    return `M${x},${y1} C${reach},${y1} ${reach},${y2} ${x},${y2}`;
  }
  if (from.x > to.x) {
    // Lower, so that it does not hide behind the arrow that leads forward.
    return curve(left(from), y1 + BOX.height / 4, right(to), y2 + BOX.height / 4);
  }
  return curve(right(from), y1, left(to), y2);
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}
