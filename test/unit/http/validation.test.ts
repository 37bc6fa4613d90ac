import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { unstorable, validationProblem } from "../../../shared/http/validation.ts";
import { MAX_VALUES } from "../../../shared/platform/outbound/json.ts";

const MIB = 1024 * 1024;
/** Half of what an isolate has, in MB; a request shares it with all others that the isolate answers. */
const HEAP_MB = 64;

/** A JSON text of 1 MiB at most: as often as it fits and may, what `part` makes of a number, between the two ends. */
function filled(before: string, part: (n: number) => string, after: string, most = MAX_VALUES - 10): string {
  const parts: string[] = [];
  for (let size = before.length + after.length, n = 0; ; n += 1) {
    const one = part(n);
    size += one.length + 1;
    if (size > MIB || n >= most) return before + parts.join(",") + after;
    parts.push(one);
  }
}

/** What `code` answers about the parsed body in a heap of that size; it has all of validation.ts, and a schema by path. */
async function inSmallHeap(body: string, schema: [module: string, name: string]): Promise<unknown> {
  const at = (path: string) => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
  const code = `(async () => {
    const { unstorable, validationProblem } = await import(${at("shared/http/validation.ts")});
    const { ${schema[1]}: schema } = await import(${at(schema[0])});
    const { parentPort, workerData } = require("node:worker_threads");
    const body = JSON.parse(workerData);
    const findings = unstorable("body", body);
    const { error } = findings.length > 0 ? {} : schema.safeParse(body);
    parentPort.postMessage(error ? validationProblem("body", error).extras.errors.length : findings.length);
  })()`;
  const worker = new Worker(code, {
    eval: true,
    workerData: body,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const [told] = await once(worker, "message");
  await worker.terminate();
  return told;
}

const RUN: [string, string] = ["shared/runs/schemas.ts", "RunCreate"];
const WEBHOOK: [string, string] = ["shared/webhooks/schemas.ts", "WebhookCreate"];
const PROPOSAL: [string, string] = ["shared/catalogue/submissions/submission-create.ts", "TaskSubmissionCreate"];

describe("a body of as much as it may hold", () => {
  it.each<[string, string, [string, string], number]>([
    ["values that it should not have", filled('{"x":[', () => "1", "]}"), RUN, 3],
    ["fields that it should not have", filled("{", (n) => `"${n.toString(36)}":1`, "}"), RUN, 20],
    ["items that are none", filled('{"event_types":[', () => "1", "]}"), WEBHOOK, 2],
    ["names of fields", filled('{"grader":{"type":"json_fields","unordered":[', () => "1", "]}}"), PROPOSAL, 5],
    ["numbers that no JSON can hold", filled('{"input":[', () => "1e999", "]}"), PROPOSAL, 20],
    ["half a million values, ten times as many", filled('{"x":[', () => "1", "]}", MIB), RUN, 1],
  ])("is judged in little memory, and told at most 20 findings: %s", async (_what, body, schema, told) => {
    expect(await inSmallHeap(body, schema)).toBe(told);
  });
});

it("tells the first findings, in the order of the body", () => {
  const wrong = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, n % 2 ? "\0" : Infinity]));
  expect(unstorable("body", { list: [1, "a"], wrong }).map(({ pointer, code }) => [pointer, code])).toEqual(
    Array.from({ length: 20 }, (_, n) => [`/wrong/f${n}`, n % 2 ? "invalid_text" : "invalid_number"]),
  );
  const { error } = z.array(z.string()).safeParse(Array.from({ length: 30 }, (_, n) => n));
  const problem = error && validationProblem("body", error);
  expect(problem?.extras.errors?.map(({ pointer }) => pointer)).toEqual(Array.from({ length: 20 }, (_, n) => `/${n}`));
});
