import type * as z from "zod";
import { REQUIRED } from "../platform/issue-text.ts";
import { MAX_VALUES, TOO_MANY_VALUES } from "../platform/outbound/json.ts";
import { type Finding, isProblemCode, Problem, type ProblemCode, PROBLEMS } from "../platform/problem.ts";
import { isStorable } from "../platform/text.ts";

/** Codes that become the code of the whole 422 when every finding has the same one. */
const OWN_PROBLEM: ReadonlySet<string> = new Set(
  Object.entries(PROBLEMS)
    .filter(([code, [status]]) => status === 422 && code !== "validation_failed")
    .map(([code]) => code),
);

const MAX_DEPTH = 64;
/** How many findings an answer tells at most: a body of 1 MiB can have a hundred thousand. */
export const MAX_FINDINGS = 20;

/** Turns zod's issues with one part of the request into a 422, or into the problem `as`. */
export function validationProblem(where: Finding["in"], error: z.core.$ZodError, as?: ProblemCode): Problem {
  const findings = error.issues.slice(0, MAX_FINDINGS).flatMap((issue) => toFindings(where, issue));
  return findingsProblem(findings, as);
}

/** A 422 with the first 20 of these findings, or the problem `as`. */
export function findingsProblem(found: readonly Finding[], as?: ProblemCode): Problem {
  const findings = found.slice(0, MAX_FINDINGS);
  const code = as ?? kindOf(findings);
  const detail = findings
    .slice(0, 3)
    .map(({ pointer, message }) => (pointer === "" ? message : `${pointer}: ${message}`))
    .join("; ");
  return new Problem(code, detail, { errors: findings });
}

/** The code of the whole problem: that of the findings where all share one that is a problem of its own. */
function kindOf(findings: Finding[]): ProblemCode {
  const [first] = findings;
  const shared =
    first !== undefined && OWN_PROBLEM.has(first.code) && findings.every(({ code }) => code === first.code);
  return shared && isProblemCode(first.code) ? first.code : "validation_failed";
}

function toFindings(where: Finding["in"], issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, MAX_FINDINGS).map((key) => ({
      in: where,
      pointer: pointerTo([...issue.path, key]),
      code: "unrecognized_field",
      message: "This field is not known here; remove it.",
    }));
  }
  const missing = issue.code === "invalid_type" && issue.message === REQUIRED;
  const given: unknown = issue.code === "custom" ? issue.params?.["code"] : undefined;
  const own = typeof given === "string" ? given : undefined;
  return [
    {
      in: where,
      pointer: pointerTo(issue.path),
      code: own ?? (missing ? "missing_field" : issue.code),
      message: issue.message,
    },
  ];
}

/** The RFC 6901 pointer to a place. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${escapePointer(String(part))}`).join("");
}

/** Escapes one reference token of an RFC 6901 pointer. */
export function escapePointer(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * What can't be stored in a part of a request: text that is not Unicode, U+0000, numbers beyond every double, nesting beyond
 * 64 levels, more than 50,000 items and members. A body may have half a million, so nothing is kept of those that can be
 * stored.
 */
export function unstorable(where: Finding["in"], root: unknown): Finding[] {
  const findings: Finding[] = [];
  const path: (string | number)[] = [];
  let left = MAX_VALUES;
  const note = (code: string, message: string) => findings.push({ in: where, pointer: pointerTo(path), code, message });
  const visit = (value: unknown): void => {
    if (typeof value === "string" && !isStorable(value)) note("invalid_text", "Remove U+0000 and lone surrogates.");
    if (typeof value === "number" && !Number.isFinite(value)) note("invalid_number", "Give a number below 1.8e308.");
    if (typeof value !== "object" || value === null) return;
    if (path.length >= MAX_DEPTH) return void note("too_deep", `Nest at most ${MAX_DEPTH} levels.`);
    for (const [key, child] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (findings.length >= MAX_FINDINGS || left < 0) return;
      left -= 1;
      if (left < 0) return void findings.push({ in: where, pointer: "", code: "too_big", message: TOO_MANY_VALUES });
      if (typeof key === "string" && !isStorable(key)) {
        note("invalid_text", "A field name is not valid text.");
      } else {
        path.push(key);
        visit(child);
        path.pop();
      }
    }
  };
  visit(root);
  return findings;
}

/** Takes the place of an item of the body that can't be stored. */
export class RefusedItem {
  readonly findings: Finding[];

  constructor(findings: Finding[]) {
    this.findings = findings;
  }
}

/** The body with every item of its list `member` that can't be stored replaced by a `RefusedItem`. */
export function refuseItems(body: unknown, member: string): unknown {
  if (typeof body !== "object" || body === null) return body;
  const items: unknown = Object.entries(body).find(([name]) => name === member)?.[1];
  if (!Array.isArray(items)) return body;
  const checked = items.map((item: unknown) => {
    const findings = unstorable("body", item);
    return findings.length === 0 ? item : new RefusedItem(findings);
  });
  return { ...body, [member]: checked };
}
