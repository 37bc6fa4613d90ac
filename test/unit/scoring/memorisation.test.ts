import { describe, expect, it } from "vitest";
import { betaQuantile } from "../../../shared/scoring/beta.ts";
import { type GapSums, isMemorised, memorisationGap } from "../../../shared/scoring/memorisation.ts";

/** Agents of one skill that are looked at, and the skills: chances to pass what is new to them. */
const AGENTS = 120;
const SKILLS = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95];

/** The gap of an agent with this difference at each task. */
function sumsOf(differences: readonly number[], canary_runs: number): GapSums {
  const gap = differences.reduce((sum, one) => sum + one, 0) / differences.length;
  const squares = differences.reduce((sum, one) => sum + (one - gap) ** 2, 0);
  return {
    gap,
    variance: differences.length < 2 ? 0 : squares / (differences.length - 1),
    lowest: Math.min(...differences),
    highest: Math.max(...differences),
    tasks: differences.length,
    canary_runs,
  };
}

describe("the memorisation gap", () => {
  it("is null under 20 canaries, however clear they are", () => {
    expect(
      memorisationGap(
        sumsOf(
          Array.from({ length: 19 }, () => 1),
          19,
        ),
      ),
    ).toBeNull();
    expect(memorisationGap({ ...sumsOf([], 0), gap: 0, lowest: 0, highest: 0 })).toBeNull();
    expect(isMemorised(null)).toBe(false);
  });

  it.each([
    ["all samples and nothing else are known", Array.from({ length: 20 }, () => 1), 1, true],
    ["samples are passed like the rest", Array.from({ length: 20 }, () => 0), 0, false],
    ["samples are passed less often", Array.from({ length: 20 }, () => -0.5), -0.5, false],
    ["samples are somewhat easier", Array.from({ length: 20 }, (_none, at) => (at % 4 === 0 ? 0.4 : 0)), 0.1, false],
    ["there is but one task", [1], 1, false],
  ])("has its mean within an interval of some width where %s", (_what, differences, value, marked) => {
    const gap = memorisationGap(sumsOf(differences, 40));
    expect(gap).toMatchObject({ value: expect.closeTo(value, 4) as number, canary_runs: 40 });
    expect(gap?.low ?? 2).toBeLessThanOrEqual(value);
    expect(gap?.high ?? -2).toBeGreaterThanOrEqual(value);
    expect((gap?.high ?? 0) - (gap?.low ?? 0)).toBeGreaterThan(0.01);
    expect(isMemorised(gap)).toBe(marked);
  });

  it.each([
    [0.1, false],
    [0.1001, true],
  ])("is marked where the lower end, %f, lies above 0.1", (low, marked) => {
    expect(isMemorised({ value: 0.4, low, high: 0.7, canary_runs: 20 })).toBe(marked);
  });
});

/** What tasks are like for agents of a skill: the chance to pass one that is drawn. */
const WORLDS: Record<string, (skill: number) => number> = {
  "all tasks are alike": (skill) => skill,
  "tasks differ somewhat": (skill) => betaQuantile(random(), 3 * skill, 3 * (1 - skill)),
  "tasks are of any difficulty": (skill) => betaQuantile(random(), skill, 1 - skill),
};

interface Plan {
  canaries: number;
  tasks: number;
}

/** The gap that an agent shows which knows this share of the samples by heart. */
function measured(chanceOf: () => number, learned: number, { canaries, tasks }: Plan) {
  const differences = Array.from({ length: tasks }, (_none, task) => {
    const chance = chanceOf();
    const known = random() < learned ? 1 : chance;
    const own = Math.floor(canaries / tasks) + (task < canaries % tasks ? 1 : 0);
    return rate(known, own) - rate(chance, 2 + Math.floor(random() * 9));
  });
  return memorisationGap(sumsOf(differences, canaries));
}

function rate(chance: number, runs: number): number {
  let passed = 0;
  for (let run = 0; run < runs; run++) if (random() < chance) passed += 1;
  return passed / runs;
}

let state = 1;
/** The same numbers from 0 to 1 at each start (a linear congruential generator, Numerical Recipes). */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

describe.each([
  { canaries: 20, tasks: 8 },
  { canaries: 20, tasks: 20 },
  { canaries: 36, tasks: 24 },
  { canaries: 100, tasks: 40 },
])("over $canaries canaries of $tasks tasks", (plan) => {
  it.each([0, 0.3, 1])("the interval holds the truth in 93% or more where %f of the samples are known", (learned) => {
    for (const [world, chance] of Object.entries(WORLDS)) {
      let held = 0;
      for (const skill of SKILLS) {
        const truth = learned * (1 - skill);
        for (let agent = 0; agent < AGENTS; agent++) {
          const gap = measured(() => chance(skill), learned, plan);
          if (gap !== null && gap.low <= truth && truth <= gap.high) held += 1;
        }
      }
      // Some 800 cases: the bound is two standard errors below 93%.
      expect(held / (SKILLS.length * AGENTS), world).toBeGreaterThan(0.912);
    }
  });

  it("an honest agent is marked in less than one case of a hundred, one that knows all samples and little else nearly always", () => {
    const marked = (skill: number, learned: number) => {
      const gaps = Array.from({ length: 400 }, () => measured(() => skill, learned, plan));
      return gaps.filter(isMemorised).length / gaps.length;
    };
    for (const skill of SKILLS) expect(marked(skill, 0), `skill ${skill}`).toBeLessThan(0.0125);
    expect(marked(0.2, 1)).toBeGreaterThan(0.97);
  });
});
