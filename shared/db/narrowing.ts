import type { Context } from "../platform/context.ts";
import { describeError, refusesData, tookTooLong } from "./client.ts";
import type { Piece } from "./pieces.ts";

/** Work over rows in an order, of which each piece does the next. */
export interface OrderedWork {
  /** The most rows of a piece. */
  size: number;
  /** Does the next rows behind `cursor`, at most `size`, in one transaction: a piece that fails leaves nothing. */
  work(cursor: string | null, size: number): Promise<Piece>;
  /** The first row that such a piece does; null where what it does can't be told by rows. */
  first(cursor: string | null): Promise<FirstRow | null>;
}

/** A row that a piece begins with. */
export interface FirstRow {
  /** The cursor behind it. */
  cursor: string;
  /** What the log calls it by. */
  named: Readonly<Record<string, string>>;
}

/** Where a piece begins that is smaller than usual, and how many rows right before it were stepped over. */
interface Narrowed {
  cursor: string | null;
  size: number;
  faults: number;
}

const NARROWED = /^narrowed (\d+) (\d+)(?: (.*))?$/s;

/** After so many faulty rows in a row the fault is taken to be that of all: the work fails, and is tried again as a whole. */
const MAX_FAULTS = 1000;

/**
 * Does a piece of ordered work so that a row which the database always refuses stops none behind it. Where the database
 * refuses the data of a piece, the next one is half as large, down to a single row: that is named in the log, stepped over
 * and reported as the piece's failure. What takes the database too long is halved, too, but no row is stepped over for that:
 * the same may be done in time later. After a piece that succeeds, the next is twice as large again. Any other failure is thrown.
 */
export async function narrowing(
  ctx: Context,
  cursor: string | null,
  { size, work, first }: OrderedWork,
): Promise<Piece> {
  const at = read(cursor, size);
  try {
    const { next, failure } = await work(at.cursor, at.size);
    const wider = Math.min(size, at.size * 2);
    return {
      next: next === null || wider === size ? next : written({ cursor: next, size: wider, faults: 0 }),
      failure,
    };
  } catch (error) {
    const isTooMuch = at.size > 1 && tookTooLong(error);
    if (!isTooMuch && (!refusesData(error) || at.faults >= MAX_FAULTS)) throw error;
    const row = await first(at.cursor);
    if (row === null) throw error;
    if (at.size > 1) return { next: written({ ...at, size: Math.ceil(at.size / 2) }) };
    ctx.log.error("stepped over, since the database refuses it", { ...row.named, detail: describeError(error) });
    return { next: written({ cursor: row.cursor, size: 1, faults: at.faults + 1 }), failure: error };
  }
}

function read(cursor: string | null, size: number): Narrowed {
  const [found, narrow, faults, behind] = NARROWED.exec(cursor ?? "") ?? [];
  if (found === undefined) return { cursor, size, faults: 0 };
  return { cursor: behind ?? null, size: Number(narrow), faults: Number(faults) };
}

function written({ cursor, size, faults }: Narrowed): string {
  return `narrowed ${size} ${faults}${cursor === null ? "" : ` ${cursor}`}`;
}
