import { describe, expect, test } from "vitest";
import { documentOf } from "../../../functions/site/layout.tsx";
import { ScoreLine } from "../../../functions/site/parts/score-line.tsx";

const on = (day: string, rest: object) => ({
  day,
  composite_score: 50,
  score_low: 40,
  score_high: 60,
  rank: null,
  runs: 40,
  score_basis: "core" as const,
  simulated: false,
  ...rest,
});

describe("the line of an agent's scores", () => {
  test("tells days that count for a rank from those that do not", () => {
    const days = [
      on("2026-11-03", { rank: 1 }),
      on("2026-11-02", { score_basis: "provisional" }),
      on("2026-11-01", { score_basis: "provisional", simulated: true }),
    ];
    const html = documentOf(ScoreLine({ title: "Score", history: days }));
    expect(html.match(/class="dot[^"]*"/g)).toEqual(['class="dot off"', 'class="dot off"', 'class="dot"']);
    expect(html.match(/<bdi>[^<]*/g)).toEqual([
      "<bdi>2026-11-03",
      "<bdi>2026-11-02 (provisional)",
      "<bdi>2026-11-01 (simulated)",
    ]);
    expect(html).toContain("; in part simulated and provisional");
    expect(html).toContain("○ simulated or provisional");
  });

  test("says nothing of the kind where all days count", () => {
    const html = documentOf(ScoreLine({ title: "Score", history: [on("2026-11-03", {})] }));
    expect(html).not.toMatch(/off|○|in part/);
  });
});
