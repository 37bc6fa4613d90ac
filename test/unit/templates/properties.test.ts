import { afterAll, describe, expect, test } from "vitest";
import { TaskCreate } from "../../../shared/catalogue/task-create.ts";
import { isObject } from "../../../shared/grading/json.ts";
import type { GraderType } from "../../../shared/grading/schema.ts";
import { templates, templatesById, templatesBySample } from "../../../shared/templates/index.ts";
import type { CoreTemplate } from "../../../shared/templates/types.ts";
import { core } from "../../../shared/suites/public/core/index.ts";
import { answerWith, coreTask, verdictOf } from "../catalogue/core-support.ts";
import { DRAWS, drawsOf, forget, instanceOf, keyText, mintingTimes, passesInstance, sampleAnswer } from "./draws.ts";
import { guesses, mostFrequent, share } from "./guessing.ts";
import { solvers } from "./solvers/index.ts";

const LUCK: Partial<Record<GraderType, number>> = { multiple_choice: 0.3 };
const MAX_LUCK = 0.05;
const MAX_LUCK_OF_ALL = 0.1;
const MAX_MINT_MS = 5;

/** What the instance commitment commits to, and nothing else: no wrong answer slips in. */
const MEMBERS = [
  "expected_output",
  "grader",
  "input",
  "output_format",
  "output_schema",
  "prompt",
  "template",
  "tools",
  "world",
];

/** "1 days", "a apple", "an pear", a blank before a comma or a full stop, a small word twice. */
const SLIP = new RegExp(
  [
    /(?<![\d.,:/=+*-]|\d )\b1 (?!is\b|was\b|has\b|this\b|plus\b|minus\b|across\b)[a-z]+s\b/,
    /\b[Aa] (?!one\b|once\b)[aeio][a-z]/,
    /\b[Aa]n [bcdfgjklmnpqrstvwxyz][a-z]/,
    /[a-z] ,|[a-z] \.(?=\s)/,
    /\b(the|a|of|to|and|in) \1\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** What grades an answer by the task's schema alone. */
const BY_SCHEMA = { grader: { type: "json_schema" }, expected_output: null, pass_threshold: 1 } as const;

/** The largest share of the instances of a template that one answer, or a guess, may pass. */
const luckOf = ({ sample }: CoreTemplate) => LUCK[coreTask(sample).grader.type] ?? MAX_LUCK;

describe("the templates", () => {
  test("have ids of their own, samples of their own among the core tasks, and solvers", () => {
    expect(templatesById.size).toBe(templates.length);
    expect(templatesBySample.size).toBe(templates.length);
    const slugs = core.tasks.map(({ slug }) => slug);
    expect(templates.filter(({ sample }) => !slugs.includes(sample))).toEqual([]);
    expect(templates.filter(({ id, sample }) => sample !== `core-${id}`)).toEqual([]);
    expect(Object.keys(solvers).toSorted()).toEqual(templates.map(({ id }) => id).toSorted());
  });

  test("are there for all 40 core tasks, four a domain", () => {
    expect([...templatesBySample.keys()].toSorted()).toEqual(core.tasks.map(({ slug }) => slug).toSorted());
    const domains = Object.groupBy(templates, ({ sample }) => coreTask(sample).domain);
    expect(Object.values(domains).map((own) => own.length)).toEqual(Array.from({ length: 10 }, () => 4));
  });
});

describe.each(templates)("$id", { timeout: 60_000 + 60 * DRAWS }, (template) => {
  const sample = coreTask(template.sample);
  const instances = () => drawsOf(template).map(({ instance }) => instance);
  afterAll(() => forget(template));

  test("is a family to which the sample belongs: the solver gets full marks on it, too", () => {
    expect(verdictOf(sample, sampleAnswer(template))).toMatchObject({ correctness: 1, passed: true });
  });

  test("draws the same instance for the same run, and tells which template it is of", () => {
    const first = instances().slice(0, 10);
    expect(first.map((_, number) => instanceOf(template, number))).toEqual(first);
    for (const instance of first) {
      expect(instance.template).toEqual({ id: template.id, version: template.version });
      expect(Object.keys(instance).toSorted()).toEqual(MEMBERS);
    }
  });

  test("draws well-formed tasks of the sample's form, within the limits", () => {
    const malformed = instances().filter((instance) => {
      const { template: _, world: __, ...content } = instance;
      const { title, domain, time_limit_ms } = sample;
      return (
        !TaskCreate.safeParse({ title, domain, time_limit_ms, ...content }).success ||
        instance.output_format !== sample.output_format ||
        instance.grader.type !== sample.grader.type ||
        (instance.tools === null) !== (sample.tools === undefined) ||
        (instance.output_schema === null) !== (sample.output_schema === undefined) ||
        instance.prompt.length > 6000 ||
        Buffer.byteLength(JSON.stringify(instance.input)) > 16 * 1024 ||
        /undefined|NaN|\[object|Infinity/.test(JSON.stringify(instance))
      );
    });
    expect(malformed).toEqual([]);
  });

  test("writes without slips", () => {
    const slips = instances().flatMap(({ prompt, input }) => {
      const text = `${prompt}\n${JSON.stringify(input)}`;
      return [...text.matchAll(SLIP)].map(({ index }) => text.slice(Math.max(0, index - 20), index + 30));
    });
    expect(slips).toEqual([]);
  });

  test("says that only the answer is wanted where the grader takes nothing around it", () => {
    const strict = [sample, ...instances()].filter(({ grader }) => grader.type === "exact");
    expect(strict.filter(({ prompt }) => !/\balone\b|\bnothing else\b/.test(prompt)).slice(0, 3)).toEqual([]);
  });

  test("allows no text in its schema where the key is a number, which the grader would not take", () => {
    const loose = [sample, ...instances()].filter(({ grader, output_schema, expected_output }) => {
      if (grader.type !== "json_fields" || !isObject(expected_output)) return false;
      const asText = Object.entries(expected_output).flatMap(([name, value]) =>
        typeof value === "number" ? [{ ...expected_output, [name]: String(value) }] : [],
      );
      return asText.some(
        (output) => verdictOf({ ...BY_SCHEMA, output_schema: output_schema ?? {} }, { output }).passed,
      );
    });
    expect(loose.slice(0, 3)).toEqual([]);
  });

  test("hardly ever asks the same twice", () => {
    const asked = instances().map(({ prompt, input, output_schema }) => JSON.stringify([prompt, input, output_schema]));
    expect(new Set(asked).size).toBeGreaterThanOrEqual(0.999 * DRAWS);
  });

  test("has a key that a solver of the text alone confirms, with full marks from the grader", () => {
    const disputed = drawsOf(template).filter(({ instance, answer }) => {
      const { correctness, passed } = verdictOf({ ...instance, pass_threshold: sample.pass_threshold }, answer);
      return correctness !== 1 || !passed;
    });
    expect(disputed.slice(0, 3)).toEqual([]);
  });

  test("always sets its trap, and passes no answer that falls into it", () => {
    const passed = drawsOf(template).flatMap(({ instance, wrong_answers }) =>
      wrong_answers
        .filter((wrong) => passesInstance(instance, answerWith(instance, wrong)))
        .map((wrong) => ({ wrong, key: instance.expected_output })),
    );
    expect(passed.slice(0, 3)).toEqual([]);
    expect(drawsOf(template).filter(({ wrong_answers }) => wrong_answers.length === 0)).toEqual([]);
  });

  test("has no key that is right too often", () => {
    const [top] = mostFrequent(instances().map(keyText), 1);
    expect((top?.count ?? 0) / DRAWS).toBeLessThanOrEqual(luckOf(template));
  });

  test("gives nothing for the sample's answer, for one answer to all, or for a guess", () => {
    // Of choices the text is remembered: a letter is right by chance alone.
    const chosen = sample.grader.type === "multiple_choice";
    const published = chosen ? { output: sample.expected_output } : sampleAnswer(template);
    const remembered = share(instances(), (instance) => passesInstance(instance, published));
    expect(remembered).toBeLessThanOrEqual(MAX_LUCK);
    const { best, guess } = guesses(template);
    expect(best.share, JSON.stringify(best.answer)).toBeLessThanOrEqual(luckOf(template));
    expect(guess).toBeLessThanOrEqual(luckOf(template));
  });

  test("mints within 5 ms at the 99th percentile", () => {
    const times = mintingTimes(template, MAX_MINT_MS).toSorted((a, b) => a - b);
    expect(times[Math.ceil(0.99 * DRAWS) - 1]).toBeLessThanOrEqual(MAX_MINT_MS);
  });
});

test("over all templates, whoever gives the best constant or a guess to each passes at most one task in ten", {
  timeout: 60_000 + 60 * DRAWS,
}, () => {
  const luck = templates.map((template) => {
    const { best, guess } = guesses(template);
    return Math.max(best.share, guess);
  });
  expect(luck.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MAX_LUCK_OF_ALL * core.tasks.length);
});
