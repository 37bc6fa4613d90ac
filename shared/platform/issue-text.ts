import * as z from "zod";

/** What is said of a value that is not there. */
export const REQUIRED = "This field is required.";
const OTHER = "Give another value.";

/** How many values or names one text lists at most, how many kinds of a union, and how much of a name that was sent. */
const MAX_LISTED = 20;
const MAX_KINDS = 5;
const MAX_NAME = 60;

type Issue = z.core.$ZodRawIssue;

/** What to give instead of a value of another type, by zod's name for the type. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** What to give instead of text of another form, by zod's name for the form. */
const FORMS: Readonly<Record<string, string>> = {
  datetime: "a date and time such as 2026-11-27T09:00:00Z",
  date: "a date such as 2026-11-27",
  email: "an email address such as ada@example.com",
  url: "a URL such as https://example.com/agent",
  uuid: "a UUID such as 0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12",
  base64url: "base64url: letters, digits, - and _ alone",
};

/**
 * What to do about an issue for which a schema has no message of its own: a sentence for people, made of what the schema
 * says. Of what was sent it holds the names of fields alone.
 *
 * @example issueText({ code: "too_big", origin: "array", maximum: 100, inclusive: true, input: [] }) // "Give at most 100 items."
 */
export function issueText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? REQUIRED : typeText(issue.expected, boundsOf(issue));
    case "too_small":
    case "too_big":
      return isNumber(issue.origin) ? typeText(issue.origin, boundsOf(issue)) : sizeText(issue);
    case "not_multiple_of":
      return `Give a multiple of ${issue.divisor}.`;
    case "invalid_value":
      return issue["expected"] === "stringbool" ? typeText("boolean", {}) : choiceText(issue.values);
    case "invalid_format":
      return `Give ${FORMS[issue.format] ?? `text of the form ${issue.pattern ?? issue.format}`}.`;
    case "unrecognized_keys":
      return `Remove what is not known here: ${listed(issue.keys.map((key) => key.slice(0, MAX_NAME)))}.`;
    case "invalid_union":
      return unionText(issue);
    case "invalid_key":
      return `Choose another name. ${issue.issues[0]?.message ?? ""}`.trim();
    case "invalid_element":
      return issue.issues[0]?.message ?? OTHER;
    default:
      return issue.input === undefined ? REQUIRED : OTHER;
  }
}

function typeText(type: string, bounds: Bounds): string {
  if (type === "never") return "Leave this out.";
  return `Give ${TYPES[type] ?? (isNumber(type) ? numberText(bounds) : `a ${type}`)}.`;
}

function choiceText(values: readonly unknown[]): string {
  const [only] = values;
  if (values.length !== 1) return `Choose one of: ${listed(values.map(String))}.`;
  return `Give ${typeof only === "string" ? `"${only}"` : String(only)}.`;
}

/** What any one of the kinds takes; where a field says which kind it is, what that may be. */
function unionText({ options, errors, input }: Issue & { code: "invalid_union" }): string {
  if (Array.isArray(options) && options.length > 0) return choiceText(options);
  if (input === undefined) return REQUIRED;
  const texts = errors.flatMap(([first]) =>
    first === undefined
      ? []
      : [[...first.path.map((part) => String(part).slice(0, MAX_NAME)), first.message].join(": ")],
  );
  return texts.length === 0 ? OTHER : [...new Set(texts)].slice(0, MAX_KINDS).join(" Or: ");
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return names.slice(0, MAX_LISTED).join(", ") + more;
}

/** An end of what a number, or a size in characters or items, may be; `inclusive` where it may be just that. */
interface End {
  at: number;
  inclusive: boolean;
}

interface Bounds {
  least?: End;
  most?: End;
  whole?: boolean;
}

/** Where an issue, a schema and its checks have something to say of bounds: each has some of these. */
interface Bounding {
  check?: string;
  value?: number;
  minimum?: number;
  maximum?: number;
  length?: number;
  inclusive?: boolean;
  format?: string;
}

/** All bounds of the schema that raised an issue, so that whoever keeps one does not meet the other. */
function boundsOf(issue: Issue): Bounds {
  const bounds: Bounds = {};
  const def = issue.schema?._zod.def;
  const saying: (object | undefined)[] = [issue, def, ...(def?.checks ?? []).map(({ _zod }) => _zod.def)];
  for (const one of saying) {
    const { check, value, minimum, maximum, length, inclusive = true, format = "" }: Bounding = one ?? {};
    const least = minimum ?? length ?? (check === "greater_than" ? value : undefined);
    const most = maximum ?? length ?? (check === "less_than" ? value : undefined);
    if (least !== undefined) bounds.least = { at: least, inclusive };
    if (most !== undefined) bounds.most = { at: most, inclusive };
    if (format.includes("int")) bounds.whole = true;
  }
  return bounds;
}

const isNumber = (type: string): boolean => type === "number" || type === "int";

function numberText({ least, most, whole = false }: Bounds): string {
  const number = whole ? "a whole number" : "a number";
  if (least?.inclusive === true && most?.inclusive === true) return `${number} from ${least.at} to ${most.at}`;
  const ends = [
    ...(least === undefined ? [] : [`${least.inclusive ? "of at least" : "above"} ${least.at}`]),
    ...(most === undefined ? [] : [`${most.inclusive ? "of at most" : "below"} ${most.at}`]),
  ];
  return ends.length === 0 ? number : `${number} ${ends.join(" and ")}`;
}

function sizeText(issue: Issue & { code: "too_small" | "too_big" }): string {
  const bounds = boundsOf(issue);
  const [least, most] = [bounds.least?.at, bounds.most?.at];
  // Of a list that was sent for a string zod counts the items as well.
  const unit = (issue.schema?._zod.def.type ?? issue.origin) === "string" ? "character" : "item";
  const units = (most ?? least) === 1 ? unit : `${unit}s`;
  if (least === most) return `Give exactly ${least} ${units}.`;
  if (least === undefined) return `Give at most ${most} ${units}.`;
  return `Give ${most === undefined ? `at least ${least}` : `${least} to ${most}`} ${units}.`;
}

// It holds for schemas that were made before as well, and wherever their issues are shown.
z.config({ localeError: issueText });
