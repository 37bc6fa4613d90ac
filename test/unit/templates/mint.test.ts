import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  instanceCommitment,
  instanceSalt,
  instanceSeed,
  mintInstance,
  requestSalt,
} from "../../../shared/templates/mint.ts";
import { defineTemplate, type Instance } from "../../../shared/templates/types.ts";

const secret = Buffer.alloc(32, 1);
const runId = "0193a1b2-0000-7000-8000-000000000001";
const template = defineTemplate({ id: "math-small-sum", version: 2, sample: "core-math-small-sum" }, (random) => {
  const [a, b] = [random.int(0, 2 ** 32 - 1), random.int(0, 2 ** 32 - 1)];
  const key = { grader: { type: "numeric" }, expected_output: a + b } as const;
  return { prompt: `What is ${a} + ${b}?`, output_format: "text", ...key, wrong_answers: [String(a - b)] };
});

test("a run's instance holds what is drawn, null for what is left out, and no wrong answer", () => {
  const { prompt, expected_output, ...rest } = mintInstance(template, secret, runId);
  const [a = 0, b = 0] = (prompt.match(/\d+/g) ?? []).map(Number);
  expect(expected_output).toBe(a + b);
  expect(rest).toEqual({
    template: { id: "math-small-sum", version: 2 },
    input: null,
    output_format: "text",
    output_schema: null,
    tools: null,
    world: null,
    grader: { type: "numeric" },
  });
});

test("another secret, run, template or version gives another seed; a salt is never one of the other kind", () => {
  const other = { id: "math-small-sums", version: 2 };
  const derived = [
    instanceSeed(template, secret, runId),
    instanceSeed(template, Buffer.alloc(32, 2), runId),
    instanceSeed(template, secret, `${runId}0`),
    instanceSeed(other, secret, runId),
    instanceSeed({ ...template, version: 3 }, secret, runId),
    instanceSalt(secret, runId),
    instanceSalt(Buffer.alloc(32, 2), runId),
    requestSalt(secret, runId),
    requestSalt(secret, `${runId}0`),
  ];
  expect(new Set(derived.map((bytes) => Buffer.from(bytes).toString("hex"))).size).toBe(derived.length);
});

test.each([0, 31, 33])("a secret of %i bytes is refused", (length) => {
  const short = Buffer.alloc(length);
  for (const use of [instanceSalt, requestSalt]) expect(() => use(short, runId)).toThrow(RangeError);
  expect(() => mintInstance(template, short, runId)).toThrow(RangeError);
});

describe("the instance commitment", () => {
  const instance = mintInstance(template, secret, runId);
  const salt = instanceSalt(secret, runId);

  test("is SHA-256 over the salt and the instance with its members in the order of their names", () => {
    const sorted = Object.fromEntries(Object.entries(instance).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const text = JSON.stringify({ ...sorted, template: { id: "math-small-sum", version: 2 } });
    const digest = createHash("sha256").update(salt).update(text).digest("hex");
    expect(instanceCommitment(instance, salt)).toBe(digest);
  });

  test("is another one for any other member, salt or run", () => {
    const changed: Instance[] = [
      { ...instance, template: { ...instance.template, version: 3 } },
      { ...instance, prompt: `${instance.prompt} ` },
      { ...instance, input: {} },
      { ...instance, output_format: "json" },
      { ...instance, output_schema: {} },
      { ...instance, tools: [] },
      { ...instance, grader: { type: "numeric", tolerance: 1 } },
      { ...instance, expected_output: 0 },
    ];
    const commitments = [
      instanceCommitment(instance, salt),
      instanceCommitment(instance, requestSalt(secret, runId)),
      ...changed.map((one) => instanceCommitment(one, salt)),
    ];
    expect(new Set(commitments).size).toBe(commitments.length);
  });

  test("takes salts of 32 bytes alone", () => {
    const lengths = fc.nat({ max: 64 }).filter((length) => length !== 32);
    fc.assert(
      fc.property(lengths, (length) => {
        expect(() => instanceCommitment(instance, new Uint8Array(length))).toThrow(RangeError);
      }),
    );
  });
});
