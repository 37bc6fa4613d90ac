/** Any JSON value (RFC 8259) as `parseExact` gives it: a whole number that a double can't hold exactly is a bigint. */
export type ExactJson = null | boolean | number | bigint | string | ExactJson[] | { [key: string]: ExactJson };

/** Fewer digits than these are always held exactly. */
const LONG = /\d{16}/;
/** What tells where strings begin and end in JSON text, and its numbers. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/gsu;
const WHOLE = /^-?\d+$/;
/** From here on all doubles are whole, and not every whole number is one. */
const UNSAFE = 2 ** 53;

/**
 * `JSON.parse`, but whole numbers beyond 2^53 that are written as digits alone keep them, as bigints. A number with a
 * fraction or an exponent is a double, and so is one that is larger than any double: an infinite one.
 * @throws SyntaxError for what is not JSON
 * @example
 * parseExact('{"id": 9007199254740993}') // { id: 9007199254740993n }
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
    unsafe.push(WHOLE.test(token) && Number.isFinite(value) ? BigInt(token) : value);
    return String(UNSAFE + 2 * (unsafe.length - 1));
  });
  return restored(JSON.parse(marked), (value) => (value < UNSAFE ? value : (unsafe[(value - UNSAFE) / 2] ?? value)));
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
