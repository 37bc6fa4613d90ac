import { type Report, STEPS } from "../../../shared/verify/trail.ts";

const MARKS = { passed: "✓", failed: "✗ Refused:", skipped: "○ Open:" } as const;

function element(name: string, text = "", ...children: readonly Node[]): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

/** Puts what a verification found into the page: the verdict, which is read out, and each step with its inputs. */
export function show({ verified, failed, steps }: Report, place: HTMLElement): void {
  const open = steps.filter(({ outcome }) => outcome === "skipped").map(({ title }) => title);
  const verdict = element("div");
  verdict.className = verified ? "notice good" : "notice bad";
  if (failed !== null) {
    verdict.append(element("p", `Refused. This does not hold: ${STEPS[failed]}. ${steps.at(-1)?.detail ?? ""}`));
  } else if (verified) {
    verdict.append(
      element("p", open.length === 0 ? "Verified: every step holds." : "Verified, as far as was looked at."),
    );
    if (open.length > 0) verdict.append(element("p", `Left open: ${open.join("; ")}.`));
  } else {
    verdict.append(element("p", "Nothing could be looked at."));
  }
  const list = element("ol");
  for (const { name, title, outcome, detail, inputs } of steps) {
    const item = element("li", "", element("strong", `${MARKS[outcome]} ${title}`), element("p", detail));
    item.dataset["step"] = name;
    item.dataset["outcome"] = outcome;
    const shown = Object.entries(inputs).map(([what, value]) => [element("dt", what), element("dd", value)]);
    if (shown.length > 0) {
      item.append(element("details", "", element("summary", "What went in"), element("dl", "", ...shown.flat())));
    }
    list.append(item);
  }
  place.replaceChildren(verdict, list);
}
