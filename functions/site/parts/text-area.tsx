import { described, type FieldProps, Label, Notes } from "./form.tsx";

interface TextAreaProps extends Pick<FieldProps, "label" | "name" | "value" | "hint" | "wrong" | "optional"> {
  /** How many lines are seen at once. */
  rows?: number;
  /** Whether it holds code or JSON, in letters of one width. */
  code?: boolean;
}

/** A field of several lines, with its label, its hint and what is wrong with it. It keeps what was typed. */
export function TextArea(props: TextAreaProps) {
  const { label, name, value, hint, wrong, optional = false, rows = 6, code = false } = props;
  const error = wrong?.fields.get(name);
  return (
    <div class="field">
      <Label name={name} label={label} optional={optional} />
      <textarea
        id={name}
        name={name}
        rows={rows}
        required={!optional}
        autocomplete="off"
        spellcheck={!code}
        {...(code ? { class: "code" } : {})}
        {...described(name, hint, error)}
      >
        {/* A browser drops the first line break, which may have been typed. */}
        {`\n${value ?? ""}`}
      </textarea>
      <Notes name={name} hint={hint} error={error} />
    </div>
  );
}
