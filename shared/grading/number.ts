const MINUS = "-\u2212\uFE63\uFF0D";
const SIGN = `[${MINUS}+]`;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// A sign counts where it is unary: not after a letter, a digit, a closing bracket, a percent sign or another minus.
const UNARY_SIGN = `(?<![${MINUS}\\p{L}\\p{N})\\]}%])${SIGN}`;
const INTEGER = "\\d{1,3}(?:[,'’\\u00A0\\u2009\\u202F]\\d{3})+(?!\\d)|\\d+";
const DECIMAL = `(?:(?:${INTEGER})(?:\\.\\d+)?|(?<![\\p{L}\\p{N}])\\.\\d+)`;
const POWER = `(?:\\^|\\*\\*)\\s?[{(]?(${SIGN}?\\d+)[})]?|([⁺⁻]?[${SUPERSCRIPTS}]+)`;
const TIMES_TEN = "(\\s{0,2}(?:[x×*·⋅]|\\\\times|\\\\cdot)\\s{0,2}10)";
const NUMBER = new RegExp(
  `(${UNARY_SIGN})?(?:\\p{Sc}(${SIGN})?)?(${DECIMAL})` +
    `(?:[eE](${SIGN}?\\d+)|(?:${TIMES_TEN}|(?<=(?<![\\d.,])10))(?:${POWER}))?`,
  "gu",
);
const GLUED = /\p{L}[-_]?$/u;

/**
 * The last number of `text`, or null where there is none. Digits glued to the end of a word ("H2O", "item-3") count
 * only where nothing else does. Read: `1,234.5`, `$1,200`, `-$5`, `−7`, `25%` (as 25), `25.` at the end of a
 * sentence, `.5`, `3.0e-4`, `6.02 × 10^23`, `10⁻³`. A thousands separator is a comma, an apostrophe, or a no-break or
 * thin space, before groups of three. A comma is never a decimal point: `2,5` are the numbers 2 and 5. Of a date or a
 * range the last part counts: `2026-11-21` gives 21. Linear in the length of `text`.
 */
export function lastNumber(text: string): number | null {
  let standing: number | null = null;
  let glued: number | null = null;
  for (const match of text.matchAll(NUMBER)) {
    const before = text.slice(Math.max(0, match.index - 3), match.index);
    if (GLUED.test(before)) glued = valueOf(match);
    else standing = valueOf(match);
  }
  return standing ?? glued;
}

/** The number that `text` is: one number by the rules of `lastNumber`, without words or further digits; else null. */
export function soleNumber(text: string): number | null {
  const [match, second] = text.matchAll(NUMBER);
  if (match === undefined || second !== undefined) return null;
  return /[\p{L}\p{N}]/u.test(text.replace(match[0], "")) ? null : valueOf(match);
}

function valueOf([, outer, inner, digits = "", e, timesTen, power, superscript]: RegExpExecArray): number {
  const sign = isMinus(outer) !== isMinus(inner) ? "-" : "";
  const plain = digits.replace(/[^\d.]/gu, "");
  const exponent = e ?? power ?? (superscript === undefined ? undefined : fromSuperscript(superscript));
  if (exponent === undefined) return Number(sign + plain);
  // "10^5" alone is a power of ten without a mantissa.
  const mantissa = e !== undefined || timesTen !== undefined ? plain : "1";
  return Number(`${sign}${mantissa}e${isMinus(exponent[0]) ? "-" : ""}${exponent.replace(/\D/gu, "")}`);
}

function isMinus(sign: string | undefined): boolean {
  return sign !== undefined && sign !== "" && MINUS.includes(sign);
}

function fromSuperscript(text: string): string {
  return text.replace("⁻", "-").replace(/[^-⁺]/gu, (char) => String(SUPERSCRIPTS.indexOf(char)));
}

/**
 * Whether `value` is within `tolerance` of `target`; a few units in the last place are forgiven, so that 0.4 is within
 * 0.1 of 0.3. Without a tolerance, within 1e-9. An infinite value is near nothing.
 */
export function isNear(value: number, target: number, tolerance?: number): boolean {
  if (!Number.isFinite(value)) return false;
  const rounding = tolerance ? 4 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(target)) : 0;
  return Math.abs(value - target) <= (tolerance ?? 1e-9) + rounding;
}
