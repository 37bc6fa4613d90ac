/** A request that the API refuses with 400. */
export class BadRequest extends Error {}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  pow: Math.pow,
  sqrt: Math.sqrt,
  abs: Math.abs,
  exp: Math.exp,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  min: Math.min,
  max: Math.max,
};

/** Milliseconds of a duration such as `10s` or `1d12h`. @throws BadRequest naming `what` when it is none. */
export function durationMs(text: string, what: string): number {
  if (!/^(\d+[smhd])+$/.test(text)) throw new BadRequest(`invalid ${what}: ${text}`);
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([smhd])/g)) total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  return total;
}

/**
 * The value of an `Upstash-Retry-Delay` expression, such as `pow(2, retried) * 1000`: numbers, `retried`,
 * `+ - * /`, parentheses and the functions above, see https://upstash.com/docs/qstash/features/retry.
 * @throws BadRequest when it does not parse.
 */
export function evaluate(expression: string, retried: number): number {
  const tokens = expression.match(/\d+(?:\.\d+)?|[a-z]+|[^\s]/g) ?? [];
  let position = 0;
  const next = (): string | undefined => tokens[position];
  const invalid = (): BadRequest => new BadRequest(`invalid Upstash-Retry-Delay: ${expression}`);

  function accept(...expected: string[]): string | undefined {
    const token = next();
    if (token === undefined || !expected.includes(token)) return undefined;
    position += 1;
    return token;
  }
  function require(token: string): void {
    if (accept(token) === undefined) throw invalid();
  }

  function sum(): number {
    let value = product();
    for (let sign = accept("+", "-"); sign !== undefined; sign = accept("+", "-")) {
      value += sign === "+" ? product() : -product();
    }
    return value;
  }
  function product(): number {
    let value = factor();
    for (let sign = accept("*", "/"); sign !== undefined; sign = accept("*", "/")) {
      value = sign === "*" ? value * factor() : value / factor();
    }
    return value;
  }
  function factor(): number {
    if (accept("-") !== undefined) return -factor();
    if (accept("(") !== undefined) {
      const value = sum();
      require(")");
      return value;
    }
    const token = next() ?? "";
    position += 1;
    if (/^\d/.test(token)) return Number(token);
    if (token === "retried") return retried;
    const call = Object.hasOwn(FUNCTIONS, token) ? FUNCTIONS[token] : undefined;
    if (call === undefined) throw invalid();
    require("(");
    const values = [sum()];
    while (accept(",") !== undefined) values.push(sum());
    require(")");
    return call(...values);
  }

  const value = sum();
  if (next() !== undefined) throw invalid();
  return value;
}
