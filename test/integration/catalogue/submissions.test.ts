import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { act, call, LEAST, propose, newSubmission, SUBMISSIONS } from "./submissions-support.ts";
import { addSuite, range, tally } from "../runs/support.ts";

let service: TestService;
let admin: User;
let submitter: User;
let stranger: User;

beforeAll(async () => {
  service = await startService();
  admin = await newUser(service, { email: "admin@example.test", verified: true });
  submitter = await newUser(service);
  stranger = await newUser(service, { verified: true });
  // Without the shipped tasks, each proposal is compared with those of this file alone.
  await service.sql("update tasks set is_active = false");
});

afterAll(() => service.stop());

const submit = (fields: object = {}, by = submitter) => propose(by, fields);
const submitted = (fields: object = {}, by = submitter) => newSubmission(by, fields);

describe("a proposal", () => {
  it("is pending, shown as it was sent, with what was left out", async () => {
    const { status, body } = await submit({ title: " Named ", rationale: "It is basic." });
    expect([status, body]).toEqual([
      201,
      {
        ...LEAST,
        id: expect.any(String),
        title: "Named",
        status: "pending",
        flagged: false,
        flags: [],
        input: null,
        output_format: "text",
        output_schema: null,
        tools: null,
        expected_tool_calls: null,
        time_limit_ms: 60_000,
        pass_threshold: 1,
        rationale: "It is basic.",
        submitter_id: submitter.id,
        rejection_reason: null,
        task_id: null,
        created_at: expect.any(String),
        reviewed_at: null,
      },
    ]);
  });

  it("is 422 where a task would be, or where it claims what review decides", async () => {
    for (const [fields, pointer] of [
      [{ grader: { type: "regex", pattern: "(?=a)" }, expected_output: null }, "/grader/pattern"],
      [{ expected_output: null }, "/expected_output"],
      [{ output_schema: { nonsense: 1 } }, "/output_schema/nonsense"],
      [{ suite_id: crypto.randomUUID() }, "/suite_id"],
      [{ is_secret: true }, "/is_secret"],
      [{ reference_cost_usd: 1 }, "/reference_cost_usd"],
      [{ reference_latency_ms: 1 }, "/reference_latency_ms"],
      [{ rationale: "x".repeat(2001) }, "/rationale"],
    ] as const) {
      const { status, body } = await submit(fields);
      expect([status, body.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([422, [pointer]]);
    }
  });

  it("is 402 beyond 50 of an account that wait, however many come at once, until one is decided", async () => {
    await service.sql("delete from task_submissions");
    await service.sql("insert into task_submissions (submitter_id, task) select $1, '{}' from generate_series(1, 47)", [
      stranger.id,
    ]);
    // Long prompts take their time, so that the statements overlap.
    const prompt = range(4000).join(" ");
    const answers = await Promise.all(range(10).map(() => submit({ prompt }, stranger)));
    expect(tally(answers)).toEqual({ 201: 3, 402: 7 });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body).toMatchObject({ code: "quota_exceeded", limit: 50, used: 50, resets_at: null });
    await act("withdraw", answers.find(({ status }) => status === 201)?.body["id"] ?? "", stranger);
    await submitted({}, stranger);
    await service.sql("delete from task_submissions where submitter_id = $1", [stranger.id]);
  });

  it("costs one database round trip, similarity included", async () => {
    await service.settled();
    service.counters.reset();
    await submitted();
    expect(service.counters.snapshot().db.requests).toBe(1);
  });
});

describe("near_duplicate", () => {
  // 40 words: 36 runs of five. One changed word at an end changes one of them, one in the middle five.
  const words = range(40).map((index) => `word${index}x`);
  const changed = (...places: number[]) => words.map((word, index) => (places.includes(index) ? "other" : word));
  const flags = async (prompt: string) => (await submit({ prompt })).body.flags;

  beforeAll(async () => {
    await addSuite(service, 1, { columns: { prompt: words.join(" ") } });
    await addSuite(service, 1, { columns: { prompt: "Größe, ÄNDERN!", expected_output: '"x"' } });
    await addSuite(service, 1, { columns: { prompt: "¿…?" } });
    await addSuite(service, 1, { columns: { prompt: "This one is retired", is_active: false } });
    await addSuite(service, 1, { secret: true, columns: { prompt: "This one is secret" } });
  });

  it.each([
    ["the same text", words.join(" ")],
    ["the same words, otherwise set", ` ${words.join("…\n").toUpperCase()}!`],
    ["the same words in another form", words.join(" ").replaceAll("word", "ｗｏｒｄ")],
    ["some words more", [...words, ..."and so on it goes for nine".split(" ")].join(" ")],
    ["four words changed at an end: 32 of 40 runs are shared", changed(0, 1, 2, 3).join(" ")],
    ["a short text in another case", "größe ändern"],
  ])("is met by %s", async (_what, prompt) => {
    expect(await flags(prompt)).toEqual(["near_duplicate"]);
  });

  it.each([
    ["five words changed at an end: 31 of 41 runs are shared", changed(0, 1, 2, 3, 4).join(" ")],
    ["two words changed in the middle", changed(10, 30).join(" ")],
    ["half of the text", words.slice(0, 20).join(" ")],
    ["other words in the same number", words.map((word) => `${word}y`).join(" ")],
    ["the words in another order", words.toReversed().join(" ")],
    ["one word of a short text", "Größe"],
    ["no word at all, as another task has none", "?!"],
    ["the text of a retired task", "This one is retired"],
    ["the text of a secret task, which it would give away", "This one is secret"],
  ])("is not met by %s", async (_what, prompt) => {
    expect(await flags(prompt)).toEqual([]);
  });
});

describe("the lists", () => {
  it("show operators the flagged first, then the newest, by status and by page, and everybody their own alone", async () => {
    await service.sql("delete from task_submissions");
    const plain = await submitted();
    const flagged = await submitted({ prompt: "Look at www.example.test" }, stranger);
    const rejected = await submitted({ prompt: "Send your password" });
    await act("reject", rejected, admin);
    const newest = await submitted();
    const ids = async (by: Caller, path: string) => {
      const { status, body } = await call(by, "GET", `${SUBMISSIONS}${path}`);
      expect(status).toBe(200);
      return [body.total, ...body.items.map(({ id }: { id: string }) => id)];
    };
    expect(await ids(admin, "")).toEqual([4, rejected, flagged, newest, plain]);
    expect(await ids(admin, "?status=pending")).toEqual([3, flagged, newest, plain]);
    expect(await ids(admin, "?status=pending&page_size=2&page=2")).toEqual([3, plain]);
    expect(await ids(admin, "?status=rejected")).toEqual([1, rejected]);
    expect(await ids(admin, "?status=approved")).toEqual([0]);
    expect(await ids(submitter, "/mine")).toEqual([3, newest, rejected, plain]);
    expect(await ids(stranger, "/mine")).toEqual([1, flagged]);
    const [one] = (await call(submitter, "GET", `${SUBMISSIONS}/mine?page_size=1`)).body.items;
    expect((await call(admin, "GET", SUBMISSIONS)).body.items).toContainEqual(one);
    const wrong = await call(admin, "GET", `${SUBMISSIONS}?status=open`);
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, "/status"]);
  });
});
