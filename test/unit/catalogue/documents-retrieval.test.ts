import { describe, expect, test } from "vitest";
import { documents } from "../../../shared/suites/public/documents/index.ts";
import { addDays, minutesOf } from "./core-support.ts";
import { readerOf } from "./suite-support.ts";

const { keyOf, inputOf } = readerOf(documents);

type Passage = { id: string; text: string };

/** The one passage whose text matches `pattern`, with its groups. */
function only(passages: Passage[], pattern: RegExp) {
  const found = passages.flatMap(({ id, text }) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ id, groups: match.slice(1).map(Number) }];
  });
  const [hit] = found;
  if (hit === undefined || found.length > 1) throw new Error(`${found.length} passages match ${pattern}.`);
  return hit;
}

describe("the key follows from the passages in force", () => {
  test("winch-bolt-torque", () => {
    const { passages } = inputOf<{ passages: Passage[] }>("winch-bolt-torque");
    const table = only(passages, /^WX-200S, serial numbers from 48,000: drum bolts (\d+) Nm/);
    const basis = only(passages, /torque tables of the WX series hold for oiled bolts/);
    const dry = only(passages, /^WX series: .*drum bolt figures by (\d+) percent if the bolts are dry/);
    const [[listed = 0], [percent = 0]] = [table.groups, dry.groups];
    expect(keyOf("winch-bolt-torque")).toEqual({
      torque_nm: (listed * (100 + percent)) / 100,
      sources: [table.id, basis.id, dry.id],
    });
  });

  test("objection-deadline-orlen: day by day over the board's calendar", () => {
    const { passages } = inputOf<{ passages: Passage[] }>("objection-deadline-orlen");
    expect(only(passages, /replaces section 8 of 2019.*six business days.*outside the district, within eight/).id).toBe(
      "w2",
    );
    expect(only(passages, /day of delivery is not counted/).id).toBe("w3");
    expect(only(passages, /business days are Monday to Friday, save for the holidays/).id).toBe("w4");
    expect(only(passages, /2026: 1 January, 3 April, 1 May, 25 and 28 December/).id).toBe("w6");
    const holidays = ["2026-01-01", "2026-04-03", "2026-05-01", "2026-12-25", "2026-12-28"];
    let day = "2026-04-22";
    for (let left = 8; left > 0; ) {
      day = addDays(day, 1);
      const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
      if (weekday !== 0 && weekday !== 6 && !holidays.includes(day)) left -= 1;
    }
    expect(keyOf("objection-deadline-orlen")).toEqual({ last_day: day, sources: ["w2", "w3", "w4", "w6"] });
  });

  test("questions-the-guide-answers: what each question asks for stands in the guide, or nowhere", () => {
    const { passages } = inputOf<{ passages: Passage[] }>("questions-the-guide-answers");
    const guide = passages.map(({ text }) => text).join("\n");
    const facts: Record<string, RegExp> = {
      Q1: /In winter \(November to February\) it shuts at 16:30, otherwise at 19:00/,
      Q2: /planted in \d{4}/,
      Q3: /except in the fern valley/,
      Q4: /walks?.{0,80}\d+ dollars/,
      Q5: /glasshouse can be visited from Tuesday to Sunday\. It opens an hour after/,
      Q6: /glasshouse.{0,80}shuts/,
      Q7: /planted before the house was built\. The house was finished in 1794/,
      Q8: /family ticket.{0,80}(?:persons|people|adults|children)/,
    };
    const answered = Object.keys(facts).filter((label) => facts[label]?.test(guide));
    expect(answered).toEqual(keyOf("questions-the-guide-answers"));
  });

  test("sesame-on-the-menu: the latest note about a dish and about each of its ingredients decides", () => {
    const { notes } = inputOf<{ notes: { date: string; text: string }[] }>("sesame-on-the-menu");
    const dishes = new Map<string, string>();
    const ingredients = new Map<string, string>();
    for (const { date, text } of notes) {
      if (date > "2026-10-09") continue;
      const [, name = "", content = ""] = /^([^:]+): (.*)$/.exec(text) ?? [];
      if (name !== "Ingredients") {
        const restored = content.includes("the change of Monday was a mistake");
        const first = notes.find((note) => note.text.startsWith(`${name}:`))?.text ?? "";
        dishes.set(name.toLowerCase(), restored ? first : content);
      } else {
        for (const sentence of content.split(". ")) {
          const [, ingredient = "", made = ""] = /^(?:The )?(.+?)(?: on the .+? are| is|:) (.*)$/.exec(sentence) ?? [];
          ingredients.set(ingredient.toLowerCase(), made);
        }
      }
    }
    expect([...ingredients.keys()]).toEqual(["tahini", "house dressing", "crispy topping", "seeds"]);
    const risky = [...ingredients].filter(([, made]) => made.includes("sesame")).map(([ingredient]) => ingredient);
    const warned = [...dishes].filter(([, content]) => ["sesame", ...risky].some((word) => content.includes(word)));
    expect(warned.map(([dish]) => dish)).toEqual(keyOf("sesame-on-the-menu"));
  });

  test("release-with-working-fix: by following the issue through withdrawals", () => {
    const { notes } = inputOf<{ notes: Passage[] }>("release-with-working-fix");
    const fixes = (issue: string) =>
      notes.flatMap(
        ({ text }) =>
          new RegExp(`^(?:Quillboard|Penshore) ([\\d.]+)(?: \\(desktop\\))?\\. Fixes ${issue}\\.`).exec(text)?.[1] ??
          [],
      );
    expect(fixes("#512")).toEqual(["4.3"]);
    expect(only(notes, /fix for #512 in desktop 4\.3 did not work and is taken up again under #(\d+)/).groups).toEqual([
      530,
    ]);
    expect(fixes("#530")).toEqual(["4.5"]);
    const successor = notes.flatMap(
      ({ text }) => /4\.5 is withdrawn.*fixes are contained in ([\d.]+)\.$/.exec(text)?.[1] ?? [],
    );
    expect(successor).toEqual([keyOf("release-with-working-fix")]);
  });

  test("two-witnesses-disagree: nobody can be in two places at once, nothing in two states", () => {
    const claims: [id: string, what: string, state: string, from: string, to: string][] = [
      ["v1", "key", "with the gardener", "19:59", "20:00"],
      ["v2", "cook", "within hearing", "20:25", "20:30"],
      ["v3", "driver", "kitchen", "20:00", "20:40"],
      ["v3", "cook in the house", "kitchen", "20:00", "20:40"],
      ["v4", "key", "on the hook", "20:10", "20:11"],
      ["v4", "Yolande", "hall", "20:10", "21:00"],
      ["v5", "window", "whole", "20:15", "20:16"],
      ["v6", "Yolande", "greenhouse", "20:20", "20:21"],
      ["v8", "key", "on the hook", "20:30", "20:31"],
      ["v9", "window", "broken", "20:30", "20:31"],
    ];
    const { statements } = inputOf<{ statements: Passage[] }>("two-witnesses-disagree");
    for (const [id] of claims) expect(statements.map((statement) => statement.id)).toContain(id);
    const clashes = claims.flatMap(([id, what, state, from, to], index) =>
      claims
        .slice(index + 1)
        .filter(
          ([, other, otherState, otherFrom, otherTo]) =>
            other === what &&
            otherState !== state &&
            minutesOf(from) < minutesOf(otherTo) &&
            minutesOf(otherFrom) < minutesOf(to),
        )
        .map(([otherId]) => [id, otherId]),
    );
    expect(clashes).toEqual([keyOf("two-witnesses-disagree")]);
  });

  test("the-other-halvorsen: the passages about mosses, her herbarium, or a Halvorsen who is a she and no wife", () => {
    const { passages } = inputOf<{ passages: Passage[] }>("the-other-halvorsen");
    const botanist = passages.filter(({ text }) => /\bmoss(?:es)?\b|herbarium/.test(text));
    expect(botanist.map(({ id }) => id)).toEqual(keyOf("the-other-halvorsen"));
    for (const { text } of passages.filter((passage) => !botanist.includes(passage))) {
      expect(text).toMatch(/wind pump|patent|Sverre|bearings/);
    }
  });

  test("footbridge-final-budget", () => {
    const { papers } = inputOf<{ papers: Passage[] }>("footbridge-final-budget");
    const granted = 1000 * (only(papers, /^Resolution 14.*Mill Lane footbridge (\d+),000/).groups[0] ?? 0);
    const raise = only(papers, /^Resolution 22.*Mill Lane footbridge is raised by (\d+) percent/).groups[0] ?? 0;
    const moved = 1000 * (only(papers, /3\/2025 is amended: for 25,000 read (\d+),000/).groups[0] ?? 0);
    const [votesFor, against] = only(papers, /Vote: (\d+) for, (\d+) against/).groups;
    expect(votesFor).toBe(against);
    expect(keyOf("footbridge-final-budget")).toBe((granted * (100 + raise)) / 100 - moved - granted);
  });

  test("depots-with-cold-rooms: the dispatches up to the day, in their order", () => {
    const { dispatches } = inputOf<{ dispatches: (Passage & { date: string })[] }>("depots-with-cold-rooms");
    const day = "2026-09-01";
    const known = dispatches.filter(({ date }) => date <= day);
    const cold = new Set(/cold room: (.*)\./.exec(known[0]?.text ?? "")?.[1]?.split(", "));
    for (const { text } of known.slice(1)) {
      const working = /^(\w+)(?: gets a cold room|: the cold room went into service|: the repair is done)/.exec(
        text,
      )?.[1];
      if (working !== undefined) cold.add(working);
      const broken = /cold room at (\w+) is out of order/.exec(text)?.[1];
      if (broken !== undefined) cold.delete(broken);
    }
    const shutUntil = { Dunmore: addDays("2026-08-31", 14), Bexhall: "9999-12-31" };
    expect(known.map(({ text }) => text).join("\n")).toMatch(
      /Dunmore is shut.*to 31 August(.|\n)*Bexhall is given up on 31 August(.|\n)*a fortnight longer/,
    );
    const open = [...cold].filter(
      (depot) => !Object.entries(shutUntil).some(([name, last]) => name === depot && last >= day),
    );
    expect(open.map((depot) => depot.toLowerCase()).toSorted()).toEqual(keyOf("depots-with-cold-rooms"));
  });
});
