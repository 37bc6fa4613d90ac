const MINUS = "-\u2212\uFE63\uFF0D";
const SIGN = `[${MINUS}+]`;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// A sign counts where it is unary: not after a letter, a digit, a closing bracket, a percent sign or another minus.
const UNARY_SIGN = `(?<![${MINUS}\\p{L}\\p{N})\\]}%])${SIGN}`;

/** What parts groups of three digits, as people write them in text and in code: each number keeps to one of them. */
const SEPARATORS = [",", "'", "’", "_", "\\u00A0", "\\u2009", "\\u202F"];
const GROUPED = SEPARATORS.map((separator) => `\\d{1,3}(?:${separator}\\d{3})+(?!\\d)`).join("|");
// A plain space also parts the numbers of a list: what stands among further numbers is such a list.
const SPACED = "(?<![\\d.,]|\\d )[1-9]\\d{0,2}(?: \\d{3})+(?! ?\\d)";
const INDIAN = "(?<![\\d,])\\d{1,2}(?:,\\d{2})+,\\d{3}(?!\\d)";
const INTEGER = `${INDIAN}|${GROUPED}|${SPACED}|\\d+`;
const DECIMAL = `(?:(?:${INTEGER})(?:\\.\\d+)?|(?<![\\p{L}\\p{N}])\\.\\d+)`;
const POWER = `(?:\\^|\\*\\*)\\s?[{(]?(${SIGN}?\\d+)[})]?|([⁺⁻]?[${SUPERSCRIPTS}]+)`;
const TIMES_TEN = "(\\s{0,2}(?:[x×*·⋅]|\\\\times|\\\\cdot)\\s{0,2}10)";
const NUMBER = new RegExp(
  `(${UNARY_SIGN})?(?:\\p{Sc}(${SIGN})?)?(${DECIMAL})` +
    `(?:[eE](${SIGN}?\\d+)|(?:${TIMES_TEN}|(?<=(?<![\\d.,])10))(?:${POWER}))?`,
  "gu",
);
const GLUED = /\p{L}[-_]?$/u;

/** A number as it was written: rounded to a double, and exactly where it is whole and a double can hold its size. */
export interface Numeral {
  value: number;
  integer: bigint | null;
}

/**
 * The last number of `text`, or null where there is none. Digits glued to the end of a word ("H2O", "item-3") count
 * only where nothing else does. Read: `1,234.5`, `$1,200`, `-$5`, `−7`, `25%` (as 25), `25.` at the end of a
 * sentence, `.5`, `3.0e-4`, `6.02 × 10^23`, `10⁻³`, and the digits of all scripts (`２５`, `٢٥`). Groups of three digits
 * are parted by a comma, an apostrophe, an underscore, or a plain, no-break or thin space; `1,00,000` is a lakh. A comma
 * is never a decimal point: `2,5` are the numbers 2 and 5. Of a date or a range the last part counts: `2026-11-21` gives
 * 21. Linear in the length of `text`.
 */
export function lastNumeral(text: string): Numeral | null {
  const plain = inAscii(text);
  let standing: RegExpExecArray | null = null;
  let glued: RegExpExecArray | null = null;
  for (const match of plain.matchAll(NUMBER)) {
    const before = plain.slice(Math.max(0, match.index - 3), match.index);
    if (GLUED.test(before)) glued = match;
    else standing = match;
  }
  const last = standing ?? glued;
  return last === null ? null : numeralOf(last);
}

/** How far before or behind a number is looked for what is said of it, in UTF-16 code units. */
const NEAR = 40;
const MARKED = String.raw`\s*(?:the\s+)?[*_\x60"“(\\$]*$`;
const RULED_OUT = new RegExp(String.raw`(?:\bnot|n['’]t|\brather than|\binstead of)${MARKED}`, "iu");
// "7 or 8", "7 days or maybe 8 days", "line 7 or line 8"; not the end of a formula, as in "2^3 or 8".
const CHOICE = new RegExp(
  String.raw`^(?:\\\))?[*_\x60"”$]*\s*(?<unit>[\p{L}%°]*)[*_\x60"”,]*\s*\(?\bor\b(?:\s+\p{L}+)?${MARKED}`,
  "iu",
);
const IN_FORMULA = /(?:[/^×·÷+=√]|\s\*)\s*$/u;
const IN_PERCENT = /^\s*(?:%|per ?cent)/iu;

/**
 * The number that `text` means: that of `lastNumeral`, but none that it rules out ("6.8, not 10.5"), and none where the last
 * one is an alternative to another ("7 or 8"). The same in another unit is none ("0.5 or 50%", "2 hours or 120 minutes").
 * Linear in the length of `text`.
 */
export function meantNumeral(text: string): Numeral | null | "open" {
  const plain = inAscii(text);
  let other: RegExpExecArray | null = null;
  let standing: RegExpExecArray | null = null;
  let glued: RegExpExecArray | null = null;
  let end = 0;
  for (const match of plain.matchAll(NUMBER)) {
    const before = plain.slice(Math.max(end, match.index - NEAR), match.index);
    end = match.index + match[0].length;
    if (RULED_OUT.test(before)) continue;
    if (GLUED.test(plain.slice(Math.max(0, match.index - 3), match.index))) glued = match;
    else [other, standing] = [standing, match];
  }
  const last = standing ?? glued;
  if (last === null) return null;
  return other !== null && isChoice(plain, other, last) ? "open" : numeralOf(last);
}

function isChoice(text: string, one: RegExpExecArray, other: RegExpExecArray): boolean {
  const end = one.index + one[0].length;
  const found = other.index - end > NEAR ? null : CHOICE.exec(text.slice(end, other.index));
  if (found === null || IN_FORMULA.test(text.slice(Math.max(0, one.index - 3), one.index))) return false;
  if (/\p{Sc}/u.test(one[0]) !== /\p{Sc}/u.test(other[0])) return false;
  const unit = found.groups?.["unit"] ?? "";
  const behind = text.slice(other.index + other[0].length).slice(0, NEAR);
  const isSameUnit = unit === "" ? !IN_PERCENT.test(behind) : behind.trimStart().startsWith(unit);
  return isSameUnit && !isNearNumeral(numeralOf(one), numeralOf(other));
}

/** The number that `text` is: one number by the rules of `lastNumeral`, without words or further digits; else null. */
export function soleNumeral(text: string): Numeral | null {
  const plain = inAscii(text);
  const [match, second] = plain.matchAll(NUMBER);
  if (match === undefined || second !== undefined) return null;
  return /[\p{L}\p{N}]/u.test(plain.replace(match[0], "")) ? null : numeralOf(match);
}

const MARKS: Record<string, string> = { "٬": ",", "٫": ".", "，": ",", "．": ".", "＋": "+" };

/** `text` with the digits and marks of numbers of any script as ASCII has them, without marks of direction. */
function inAscii(text: string): string {
  return text
    .replace(/[\u061C\u200E\u200F]/gu, "")
    .replace(/[٬٫，．＋]/gu, (mark) => MARKS[mark] ?? mark)
    .replace(/(?![0-9])\p{Nd}/gu, (digit) => {
      // Beyond ASCII the digits of a script stand in one row from 0 or from 6 of a block of 16; those of mathematics, in
      // five rows on end, are the only others.
      const code = digit.codePointAt(0) ?? 0;
      if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
      const place = code % 16;
      return String(/\p{Nd}/u.test(String.fromCodePoint(code - place)) ? place : place - 6);
    });
}

function numeralOf([, outer, inner, digits = "", e, timesTen, power, superscript]: RegExpExecArray): Numeral {
  const sign = isMinus(outer) !== isMinus(inner) ? "-" : "";
  const plain = digits.replace(/[^\d.]/gu, "");
  const exponent = e ?? power ?? (superscript === undefined ? undefined : fromSuperscript(superscript));
  if (exponent === undefined) return numeral(sign, plain, "0");
  // "10^5" alone is a power of ten without a mantissa.
  const mantissa = e !== undefined || timesTen !== undefined ? plain : "1";
  return numeral(sign, mantissa, `${isMinus(exponent[0]) ? "-" : ""}${exponent.replace(/\D/gu, "")}`);
}

/** A JSON number as a numeral, by the digits that it is written with. */
export function numeralOfNumber(value: number | bigint): Numeral {
  if (typeof value === "bigint") return { value: Number(value), integer: value };
  const [mantissa = "", exponent = "0"] = String(Math.abs(value)).split("e");
  return Number.isFinite(value) ? numeral(value < 0 ? "-" : "", mantissa, exponent) : { value, integer: null };
}

/** Longer than the digits of any whole number that a double can hold the size of. */
const MOST_DIGITS = 400;

function numeral(sign: string, mantissa: string, exponent: string): Numeral {
  const value = Number(`${sign}${mantissa}e${exponent}`);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = whole + fraction;
  let from = 0;
  let to = all.length;
  while (from < to && all[from] === "0") from += 1;
  while (to > from && all[to - 1] === "0") to -= 1;
  // The digits that tell something, and the power of ten of the last of them.
  const shift = Number(exponent) - fraction.length + (all.length - to);
  if (from === to) return { value, integer: 0n };
  if (!Number.isFinite(value) || shift < 0 || to - from + shift > MOST_DIGITS) return { value, integer: null };
  return { value, integer: BigInt(sign + all.slice(from, to)) * 10n ** BigInt(shift) };
}

function isMinus(sign: string | undefined): boolean {
  return sign !== undefined && sign !== "" && MINUS.includes(sign);
}

function fromSuperscript(text: string): string {
  return text.replace("⁻", "-").replace(/[^-⁺]/gu, (char) => String(SUPERSCRIPTS.indexOf(char)));
}

/**
 * Whether `value` is within `tolerance` of `target`, or without one within 1e-9: whole numbers exactly, however large;
 * else as `isNear` has it.
 */
export function isNearNumeral(value: Numeral, target: Numeral, tolerance?: number): boolean {
  if (value.integer === null || target.integer === null) return isNear(value.value, target.value, tolerance);
  const gap = value.integer - target.integer;
  // A tolerance that is a share of the target is rounded itself.
  return Number(gap < 0n ? -gap : gap) <= (tolerance ?? 0) * (1 + 4 * Number.EPSILON);
}

/**
 * Whether `value` is within `tolerance` of `target`; a few units in the last place are forgiven, so that 0.4 is within
 * 0.1 of 0.3. Without a tolerance, within 1e-9. An infinite value is near nothing.
 * @example
 * isNear(0.4, 0.3, 0.1) // true
 */
export function isNear(value: number, target: number, tolerance?: number): boolean {
  if (!Number.isFinite(value)) return false;
  const rounding = tolerance ? 4 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(target)) : 0;
  return Math.abs(value - target) <= (tolerance ?? 1e-9) + rounding;
}
