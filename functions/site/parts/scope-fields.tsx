import { KEY_SCOPES } from "../../../shared/db/schema/index.ts";
import type { Scope, Subject } from "../../../shared/identity/api-keys/scopes.ts";
import { Choose, type Wrong } from "./form.tsx";
import { Group } from "./group.tsx";

/** What scopes are about, in the words of the pages. */
const SUBJECTS = [
  ["agents", "Agents and the board"],
  ["runs", "Runs and screenings"],
  ["webhooks", "Webhooks"],
  ["schedules", "Schedules"],
  ["scorecards", "Scorecards"],
  ["teams", "Workspaces"],
] as const satisfies (readonly [Subject, string])[];

/** The value of the field `scope` that stands for `scopes`. */
const CHOSEN = "chosen";

/** What a new key may do: agents and runs as before, or a choice for each subject. */
export function ScopeFields({ typed, wrong }: { typed: URLSearchParams; wrong: Wrong | undefined }) {
  return (
    <>
      <Choose
        label="What it may do"
        name="scope"
        value={typed.get("scope") ?? "read"}
        options={[
          ["read", "Read agents and runs"],
          ["write", "Read and write: start screenings, change agents"],
          [CHOSEN, "Only what is chosen here:"],
        ]}
        wrong={wrong}
      />
      <Group legend="Only this" name="scopes" wrong={wrong}>
        {SUBJECTS.map(([subject, label]) => (
          <Choose
            label={label}
            name={subject}
            value={typed.get(subject) ?? ""}
            options={[
              ["", "nothing"],
              ["read", "read"],
              ["write", "read and write"],
            ]}
          />
        ))}
      </Group>
    </>
  );
}

/** What the form asks for, as the interface takes it. */
export function scopeOfForm(form: URLSearchParams): { scope: string } | { scopes: Scope[] } {
  const scope = form.get("scope") ?? "";
  if (scope !== CHOSEN) return { scope };
  return { scopes: KEY_SCOPES.filter((one) => SUBJECTS.some(([name]) => `${name}:${form.get(name)}` === one)) };
}

/** What a key may do, in a few words. */
export function scopesInWords(scopes: readonly Scope[]): string {
  return SUBJECTS.flatMap(([name]) => {
    if (scopes.includes(`${name}:write`)) return [`${name}: read and write`];
    return scopes.includes(`${name}:read`) ? [`${name}: read`] : [];
  }).join("; ");
}
