import type { Promises } from "./promises.ts";

/** What an interface has that an earlier one has not: operations, and by operation or schema what was added to it. */
export interface Changes {
  /** New operations, such as `GET /api/v1/usage`. */
  operations: string[];
  /** New things of what there was before: an operation, or a schema as it is sent or answered. */
  additions: { subject: string; kind: "operation" | "sent" | "answered"; added: string[] }[];
}

const KINDS = { in: "sent", out: "answered" } as const;

/**
 * What callers can use now and could not before, in the words of the reference. A schema that comes with a new operation is
 * told with that operation; limits that were lifted are not told, since nobody has to know them to go on.
 */
export function changesOf(released: Promises, now: Promises): Changes {
  const operations: string[] = [];
  const additions: Changes["additions"] = [];
  for (const [subject, facts] of now) {
    const [, direction, name] = /^(in|out) (.+)$/.exec(subject) ?? [];
    const before = released.get(subject);
    if (before === undefined) {
      if (name === undefined) operations.push(subject);
      continue;
    }
    const added = [...facts].filter((fact) => !before.has(fact)).flatMap((fact) => worded(fact, before));
    if (added.length === 0) continue;
    const kind = direction === "in" || direction === "out" ? KINDS[direction] : "operation";
    additions.push({ subject: name ?? subject, kind, added: [...new Set(added)].toSorted() });
  }
  return {
    operations: operations.toSorted(),
    additions: additions.toSorted((a, b) => (`${a.kind} ${a.subject}` < `${b.kind} ${b.subject}` ? -1 : 1)),
  };
}

/** What a new fact says to people; nothing where it only says more of a place that is told already. */
function worded(fact: string, before: ReadonlySet<string>): string[] {
  const [, place = "", what = ""] = /^\+([^|]*)\|(.*)$/.exec(fact) ?? [];
  const name = place.replace(/^\./, "");
  const [, where, parameter] = /^(query|header|path) (.+)$/.exec(place) ?? [];
  if (what.startsWith("=")) return before.has(`+${place}|there`) ? [`${parameter ?? name}: ${what.slice(1)}`] : [];
  if (what !== "there") return [];
  if (where !== undefined) return [where === "header" ? `${parameter} (header)` : String(parameter)];
  return /^\d{3}$/.test(place) ? [`answer ${place}`] : [name];
}
