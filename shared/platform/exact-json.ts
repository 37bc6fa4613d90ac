/** Any JSON value (RFC 8259) as `parseExact` gives it: a whole number that a double can't be told to be is a bigint. */
export type ExactJson = null | boolean | number | bigint | string | ExactJson[] | { [key: string]: ExactJson };

/** Fewer digits than these are always held exactly. */
const LONG = /\d(?:\.?\d){15}/;
/** What tells where strings begin and end in JSON text, and its numbers. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/gsu;
const DIGITS = /^-?\d+$/;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** How many times as long as it was written a number may become: else a short text could fill the memory. */
const MOST_GROWTH = 3;
/** From here on all doubles are whole, and not every whole number is one. */
const UNSAFE = 2 ** 53;

/**
 * `JSON.parse`, but whole numbers beyond 2^53 keep their digits, as bigints: all that are written as digits alone, and those
 * with a fraction or an exponent whose digits the double's own decimal form has lost. What is larger than any double is an
 * infinite one, and what would take far more digits than it was written with is a double.
 * @throws SyntaxError for what is not JSON
 * @example
 * parseExact('{"id": 9007199254740993}') // { id: 9007199254740993n }
 * parseExact("[9007199254740993.0, 1e20]") // [9007199254740993n, 1e20]
 */
export function parseExact(text: string): ExactJson {
  const plain: ExactJson = JSON.parse(text);
  if (!LONG.test(text)) return plain;
  // A reviver is told the source of each number, but recurses as deep as a hostile text nests. So each number beyond 2^53
  // is replaced by another one that stands for its place in this list. No other number of that size is left, so that none
  // is taken for such a place.
  const unsafe: (number | bigint)[] = [];
  let inString = false;
  const marked = text.replace(TOKEN, (token) => {
    if (token === '"') inString = !inString;
    if (inString || token === '"') return token;
    const value = Number(token);
    if (Math.abs(value) < UNSAFE) return token;
    unsafe.push(Number.isFinite(value) ? exactly(token, value) : value);
    return String(UNSAFE + 2 * (unsafe.length - 1));
  });
  return restored(JSON.parse(marked), (value) => (value < UNSAFE ? value : (unsafe[(value - UNSAFE) / 2] ?? value)));
}

/** The number beyond 2^53 that `token` writes: a bigint where the double `value` would tell another whole number. */
function exactly(token: string, value: number): number | bigint {
  const whole = wholeOf(token, MOST_GROWTH * token.length);
  if (whole === null) return value;
  return DIGITS.test(token) || wholeOf(String(value)) !== whole ? whole : value;
}

/** The whole number that `token` writes; null where it is none, or ends in more zeros than `zeros` that are not written. */
function wholeOf(token: string, zeros = Number.POSITIVE_INFINITY): bigint | null {
  const [, sign = "", integer = "", fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  const shift = Number(exponent) - fraction.length;
  if (shift > zeros) return null;
  const all = integer + fraction;
  if (shift < 0 && !/^0*$/u.test(all.slice(shift))) return null;
  const digits = shift < 0 ? all.slice(0, shift) : all + "0".repeat(shift);
  return BigInt(sign + digits.replace(/^0+(?=\d)/u, ""));
}

/** `root` with its numbers replaced, in place. Iterative: no depth overflows the stack. */
function restored(root: ExactJson, replace: (value: number) => number | bigint): ExactJson {
  const holder = [root];
  const open: (ExactJson[] | { [key: string]: ExactJson })[] = [holder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const container = next;
    const visit = (child: ExactJson, put: (value: ExactJson) => void): void => {
      if (typeof child === "number") put(replace(child));
      else if (typeof child === "object" && child !== null) open.push(child);
    };
    if (Array.isArray(container)) {
      for (const [index, child] of container.entries()) visit(child, (value) => (container[index] = value));
    } else {
      for (const [key, child] of Object.entries(container)) visit(child, (value) => (container[key] = value));
    }
  }
  return holder[0] ?? null;
}

/**
 * `JSON.stringify` for values with bigints, which are written as numbers; `comma` stands between items and between members.
 * Recurses as deep as the value nests.
 * @example
 * stringifyExact({ id: 9007199254740993n }) // {"id":9007199254740993}
 */
export function stringifyExact(value: ExactJson, comma = ","): string {
  if (typeof value === "bigint") return String(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item, comma)).join(comma)}]`;
  const members = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}:${stringifyExact(child, comma)}`);
  return `{${members.join(comma)}}`;
}
