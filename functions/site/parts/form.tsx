import { randomUUID } from "node:crypto";
import type { PropsWithChildren } from "hono/jsx";
import { Problem } from "../../../shared/platform/problem.ts";
import { mayPass } from "./may-pass.ts";
import { Notice } from "./notice.tsx";
import { PlanWay } from "./plan-way.tsx";

/** What was wrong with a form: in all, and by the name of each field that has to change. */
export class Wrong {
  readonly status: Problem["status"];
  readonly message: string | null;
  readonly fields: ReadonlyMap<string, string>;
  /** Whether a larger plan of whoever pays would help. */
  readonly planHelps: boolean;

  constructor(
    status: Problem["status"],
    message: string | null,
    fields: ReadonlyMap<string, string> = new Map(),
    planHelps = false,
  ) {
    this.status = status;
    this.message = message;
    this.fields = fields;
    this.planHelps = planHelps;
  }

  /** The same, at the fields of a form that has other names for them. */
  renamed(nameOf: (name: string) => string): Wrong {
    const fields = [...this.fields].map(([name, text]) => [nameOf(name), text] as const);
    return new Wrong(this.status, this.message, new Map(fields), this.planHelps);
  }
}

/** Runs the work behind a form. What the person can mend comes back as `Wrong`; all else is thrown. */
export async function attempt<T>(names: readonly string[], work: () => Promise<T>): Promise<T | Wrong> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code === "unauthenticated" || mayPass(error)) throw error;
    return wrongOf(error, names);
  }
}

/**
 * A problem at the fields of a form; findings at none of `names` are told above the form. The key of a form is nothing that
 * a person knows of: the form is shown with a new one.
 */
export function wrongOf(problem: Problem, names: readonly string[]): Wrong {
  if (problem.code === "idempotency_key_reused")
    return new Wrong(
      problem.status,
      "This form was sent before, with something else in it. Send it again if you mean both.",
    );
  const fields = new Map<string, string>();
  const others: string[] = [];
  for (const { pointer, message } of problem.extras.errors ?? []) {
    const name = names.find((one) => pointer === `/${one}` || pointer.startsWith(`/${one}/`));
    if (name === undefined) others.push(pointer === "" ? message : `${pointer.slice(1)}: ${message}`);
    else if (!fields.has(name)) fields.set(name, message);
  }
  const message = fields.size === 0 && others.length === 0 ? problem.message : others.join(" ");
  const planHelps = problem.code === "plan_required" || problem.extras.members?.["larger_plan"] === true;
  return new Wrong(problem.status, message === "" ? null : message, fields, planHelps);
}

/** The name of the hidden field with a form's own key, by which it counts once however often it is sent. */
export const KEY = "_key";

/** A form that is sent to `action`. Without a script the browser sends it as it is. */
export function Form({
  action,
  button,
  others = [],
  once,
  danger,
  children,
}: PropsWithChildren<{
  action: string;
  button: string;
  /** Further buttons, each with what it sends as `do`. */
  others?: readonly (readonly [wish: string, label: string])[];
  once?: boolean;
  danger?: boolean;
}>) {
  return (
    <form method="post" action={action}>
      {once === true && <input type="hidden" name={KEY} value={randomUUID()} />}
      {children}
      <p>
        <button type="submit" {...(danger === true ? { class: "danger" } : {})}>
          {button}
        </button>{" "}
        {others.map(([wish, label]) => (
          <button type="submit" class="quiet" name="do" value={wish}>
            {label}
          </button>
        ))}
      </p>
    </form>
  );
}

/** What stands above a form that was refused: what is wrong, read out at once, with ways to the fields. */
export function Refused({ wrong, labels }: { wrong?: Wrong | undefined; labels: Record<string, string> }) {
  if (wrong === undefined) return null;
  return (
    <Notice kind="bad" alert>
      <p>
        <strong>That did not work.</strong> {wrong.message}
        {wrong.planHelps && <PlanWay />}
      </p>
      {wrong.fields.size > 0 && (
        <ul>
          {[...wrong.fields].map(([name, message]) => (
            <li>
              <a href={`#${name}`}>{labels[name] ?? name}</a>: {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** What came of a form: what was done, in words, or why it was refused and what had been typed. */
export interface Sent {
  said?: string;
  typed?: URLSearchParams;
  wrong?: Wrong;
}

/** What stands above the forms of a page once one was sent: what was done, or what was refused, read out at once. */
export function Result({
  said,
  wrong,
  labels,
  children,
}: PropsWithChildren<{ said: string | undefined; wrong: Wrong | undefined; labels: Record<string, string> }>) {
  return (
    <>
      {said !== undefined && (
        <Notice kind="good" alert>
          <p>{said}</p>
          {children}
        </Notice>
      )}
      <Refused wrong={wrong} labels={labels} />
    </>
  );
}

/** What a field is given. */
export interface FieldProps {
  label: string;
  name: string;
  type?: "text" | "email" | "password" | "url" | "number" | "date";
  value?: string | null | undefined;
  hint?: string | undefined;
  wrong?: Wrong | undefined;
  autocomplete?: string;
  optional?: boolean;
  min?: number;
  max?: number;
  /** Whether a password that was typed stays in the form that is shown again. */
  keeps?: boolean;
}

/** A field with its label, its hint and what is wrong with it. It keeps what was typed; a password only where it `keeps`. */
export function Field(props: FieldProps) {
  const { label, name, type = "text", value, hint, wrong, autocomplete, optional = false, min, max, keeps } = props;
  const error = wrong?.fields.get(name);
  return (
    <div class="field">
      <Label name={name} label={label} optional={optional} />
      <input
        id={name}
        name={name}
        type={type}
        value={type === "password" && keeps !== true ? "" : (value ?? "")}
        required={!optional}
        autocomplete={autocomplete ?? "off"}
        spellcheck={false}
        min={min}
        max={max}
        {...described(name, hint, error)}
      />
      <Notes name={name} hint={hint} error={error} />
    </div>
  );
}

/** A choice of one among `options`, each a value and what it is called. */
export function Choose({
  label,
  name,
  value,
  options,
  hint,
  wrong,
}: {
  label: string;
  name: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  hint?: string | undefined;
  wrong?: Wrong | undefined;
}) {
  const error = wrong?.fields.get(name);
  return (
    <div class="field">
      <Label name={name} label={label} optional={false} />
      <select id={name} name={name} {...described(name, hint, error)}>
        {options.map(([one, text]) => (
          <option value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
      <Notes name={name} hint={hint} error={error} />
    </div>
  );
}

/** A box to tick; it sends `true`, or nothing. */
export function Tick({
  label,
  name,
  checked,
  hint,
  wrong,
}: {
  label: string;
  name: string;
  checked: boolean;
  hint?: string;
  wrong?: Wrong | undefined;
}) {
  const error = wrong?.fields.get(name);
  return (
    <div class="field tick">
      <input type="checkbox" id={name} name={name} value="true" checked={checked} {...described(name, hint, error)} />
      <label for={name}>{label}</label>
      <Notes name={name} hint={hint} error={error} />
    </div>
  );
}

/** The name of a field, as it is read. */
export function Label({ name, label, optional }: { name: string; label: string; optional: boolean }) {
  return (
    <label for={name}>
      {label} {optional && <span class="mute">(optional)</span>}
    </label>
  );
}

/** What ties a field to its hint and to what is wrong with it, for who does not see them. */
export function described(name: string, hint: string | undefined, error: string | undefined): Record<string, string> {
  const ids = [...(hint === undefined ? [] : [`${name}-hint`]), ...(error === undefined ? [] : [`${name}-error`])];
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(error === undefined ? {} : { "aria-invalid": "true" }),
  };
}

/** What is said below a field. */
export function Notes({ name, hint, error }: { name: string; hint: string | undefined; error: string | undefined }) {
  return (
    <>
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      )}
    </>
  );
}
