import { subjectOf } from "../../../shared/verify/subject.ts";
import { type Report, STEPS } from "../../../shared/verify/trail.ts";

const MARKS = { passed: "✓", failed: "✗ Refused:", skipped: "○ Open:" } as const;
const UNREAD = "That says nothing against it: try again in a minute.";

function element(name: string, text = "", ...children: readonly Node[]): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

/** Puts what a verification found into the page: the verdict and whom it is about, which are read out, and each step with its inputs. */
export function show({ verified, failed, steps, statement }: Report, place: HTMLElement): void {
  const open = steps.filter(({ outcome }) => outcome === "skipped").map(({ title }) => title);
  const verdict = element("div");
  verdict.className = verified ? "notice good" : "notice bad";
  const last = steps.at(-1);
  if (failed !== null && last?.unread === true) {
    verdict.append(
      element("p", `Not verified yet. This could not be looked at: ${STEPS[failed]}. ${last.detail} ${UNREAD}`),
    );
  } else if (failed !== null) {
    verdict.append(element("p", `Refused. This does not hold: ${STEPS[failed]}. ${last?.detail ?? ""}`));
  } else if (verified) {
    verdict.append(
      element("p", open.length === 0 ? "Verified: every step holds." : "Verified, as far as was looked at."),
    );
    if (open.length > 0) verdict.append(element("p", `Left open: ${open.join("; ")}.`));
  } else {
    verdict.append(element("p", "Nothing could be looked at."));
  }
  if (statement !== null) verdict.append(...subjectOf(statement).map((sentence) => element("p", sentence)));
  const list = element("ol");
  for (const { name, title, outcome, detail, inputs, unread } of steps) {
    const mark = MARKS[unread ? "skipped" : outcome];
    const item = element("li", "", element("strong", `${mark} ${title}`), element("p", detail));
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
