import { Choose, Field, type Wrong } from "./form.tsx";
import { joined } from "./in-words.ts";
import { type Choices, FINDING } from "./my-agents.ts";
import { Notice } from "./notice.tsx";

/** What was typed, as it is quoted in a list of several. */
export function quoted(texts: readonly string[], last: "and" | "or" = "and"): string {
  return joined(
    texts.map((text) => `“${text}”`),
    last,
  );
}

/** That looking for an agent by these texts found nobody, in words. */
export const nobodyHas = (texts: readonly string[]): string => `No agent has ${quoted(texts, "or")} in its name.`;

/** What came of looking for an agent, in words. */
function found({ agents, q, more }: Choices): string {
  if (q === "") return "These are the newest agents: write a part of a name to find others.";
  if (agents.length === 0) return nobodyHas([q]);
  if (more) return `More than ${agents.length} agents have “${q}” in their names, and these are the newest of them.`;
  return agents.length === 1
    ? `One agent has “${q}” in its name.`
    : `${agents.length} agents have “${q}” in their names.`;
}

interface ChooseAgentProps {
  label: string;
  name: string;
  value: string;
  choices: Choices;
  /** What can be chosen besides agents. */
  others?: readonly (readonly [value: string, text: string])[];
  hint?: string;
  wrong: Wrong | undefined;
}

/**
 * A choice of one agent. Where there are more than it offers, one is found by its name: its button sends the form, of which
 * everything stays as it was typed.
 */
export function ChooseAgent({ label, name, value, choices, others = [], hint, wrong }: ChooseAgentProps) {
  const { agents, q, more, looked } = choices;
  const [only] = agents.length === 1 && looked ? agents : [];
  return (
    <>
      {(more || q !== "" || looked) && (
        <>
          {/* Enter presses the first button of a form, whichever field it is pressed in: that is not to be "Find". */}
          <button type="submit" hidden name={FINDING.enter} value={name} formnovalidate />
          <input type="hidden" name={FINDING.found} value={q} />
          <Field
            label="Find an agent by its name"
            name={FINDING.text}
            value={q}
            optional
            hint="There are more agents than are offered here at once."
          />
          <p>
            <button
              type="submit"
              class="quiet"
              name={FINDING.button}
              value={name}
              formnovalidate
              formaction={`#${name}`}
            >
              Find
            </button>
          </p>
          {looked && (
            <Notice alert>
              <p>{found(choices)}</p>
            </Notice>
          )}
        </>
      )}
      <Choose
        label={label}
        name={name}
        value={only?.id ?? value}
        options={[...others, ...agents.map(({ id, label: text }) => [id, text] as const)]}
        hint={hint}
        wrong={wrong}
      />
    </>
  );
}
