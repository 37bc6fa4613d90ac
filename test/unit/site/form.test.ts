import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentOf } from "../../../functions/site/layout.tsx";
import { Wrong } from "../../../functions/site/parts/form.tsx";
import { TextArea } from "../../../functions/site/parts/text-area.tsx";

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

/** What a browser shows in a text area: it drops a line break right after the tag. */
function shownIn(html: string): string {
  const inner = /<textarea[^>]*>([\s\S]*)<\/textarea>/.exec(html)?.[1] ?? "";
  return inner.replace(/^\n/, "").replaceAll(/&(lt|gt|quot|#39|amp);/g, (_all, name: string) => ENTITIES[name] ?? "");
}

describe("a field of several lines", () => {
  test("keeps what was typed, to the last line break", () => {
    const typed = fc.array(fc.oneof(fc.constantFrom("\n", "</textarea>", "&amp;", '"', " "), fc.string()));
    fc.assert(
      fc.property(typed, (parts) => {
        const value = parts.join("");
        expect(shownIn(documentOf(TextArea({ label: "Rules", name: "rules", value })))).toBe(value);
      }),
    );
  });

  test("says what is wrong with it at the field itself", () => {
    const wrong = new Wrong(422, null, new Map([["rules", "is no JSON"]]));
    const html = documentOf(TextArea({ label: "Rules", name: "rules", hint: "As JSON", wrong }));
    expect(html).toContain('aria-describedby="rules-hint rules-error" aria-invalid="true"');
    expect(html).toContain('<p class="error" id="rules-error">is no JSON</p>');
  });
});

test("what is wrong with a form stays what it is where the form has other names for its fields", () => {
  const wrong = new Wrong(402, "No room.", new Map([["weights/cost", "is too much"]]), true);
  const renamed = wrong.renamed((name) => name.replace("weights/", ""));
  expect(renamed).toEqual(new Wrong(402, "No room.", new Map([["cost", "is too much"]]), true));
});
