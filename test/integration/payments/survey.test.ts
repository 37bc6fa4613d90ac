import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, tally } from "../runs/support.ts";

const NOW = new Date();
const HOUR = 3_600_000;
const ANSWERS = ["very", "somewhat", "not"] as const;

let service: TestService;
let user: User;
let other: User;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => NOW } });
  [user, other] = [await newUser(service), await newUser(service)];
});

beforeEach(() => service.sql("delete from survey_responses"));

afterAll(() => service.stop());

const respond = (score: number, fields: object = {}, by: User = user) =>
  by.call("POST", "/api/v1/pmf/respond", { score, disappointment: "very", ...fields });
const dismiss = () => user.call("POST", "/api/v1/pmf/dismiss");
const results = async (query = "") => (await user.call("GET", `/api/v1/pmf/results${query}`)).body;
const kept = () => service.sql("select score, disappointment, comment from survey_responses order by created_at");
/** Lets so many milliseconds pass since all that was said. */
const pass = (ms: number) =>
  service.sql("update survey_responses set created_at = created_at - $1 * interval '1 millisecond'", [ms]);

/** Keeps what writes for an account waiting until so many wait behind each other: then they go on at once. */
const heldUp = ({ id }: User, waiting: number) =>
  service.sql(`do $$ begin
    perform from users where id = '${id}' for update;
    for _try in 1..300 loop
      exit when (select count(*) from pg_locks l join pg_database d on d.oid = l.database
        where not l.granted and d.datname = current_database()) >= ${waiting};
      perform pg_sleep(0.01);
    end loop;
  end $$`);

describe("an answer", () => {
  it("is kept as it was given, a blank comment as none", async () => {
    const { status, body } = await respond(9, { comment: "  Faster, please.  " });
    const answer = { score: 9, disappointment: "very", comment: "Faster, please." };
    expect([status, body]).toEqual([201, { id: expect.any(String), ...answer, created_at: NOW.toISOString() }]);
    expect(await kept()).toEqual([answer]);
    for (const comment of [undefined, "  "]) expect((await respond(9, { comment })).body.comment).toBeNull();
  });

  it("takes the place of one, or of a dismissal, not yet 30 days old; an older one stands beside it", async () => {
    const first = await respond(2, { comment: "Bad." });
    await pass(720 * HOUR - 1);
    const second = await respond(8, { disappointment: "not" });
    expect(second.body).toMatchObject({ id: first.body.id, comment: null, created_at: NOW.toISOString() });
    expect(await results()).toMatchObject({ responses: 1, passives: 1, disappointment: { very: 0, not: 1 } });
    await pass(720 * HOUR);
    expect((await dismiss()).status).toBe(200);
    expect((await respond(10)).status).toBe(201);
    expect((await kept()).map(({ score }) => score)).toEqual([8, 10]);
    await respond(0, {}, other);
    expect(await kept(), "another account's is its own").toHaveLength(3);
  });

  it("counts once however many come at once, beside dismissals", async () => {
    const [, ...answers] = await Promise.all([
      heldUp(user, 4),
      ...range(5).map((score) => respond(score)),
      ...range(5).map(() => dismiss()),
    ]);
    expect(tally(answers)).toEqual({ 201: 5, 200: 5 });
    expect(await results()).toMatchObject({ responses: 1, detractors: 1 });
    expect(await kept()).toHaveLength(1);
  });

  it.each<[string, object, string, string]>([
    ["a score over 10", { score: 11 }, "/score", "validation_failed"],
    ["a score under 0", { score: -1 }, "/score", "validation_failed"],
    ["a score between two", { score: 6.5 }, "/score", "validation_failed"],
    ["no score", { score: undefined }, "/score", "validation_failed"],
    ["another disappointment", { disappointment: "much" }, "/disappointment", "validation_failed"],
    ["an essay", { comment: "x".repeat(2001) }, "/comment", "validation_failed"],
    ["another's name", { user_id: "x" }, "/user_id", "unrecognized_field"],
  ])("with %s is 422 and not kept", async (_what, fields, pointer, code) => {
    const { status, body } = await respond(5, fields);
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, code, pointer]);
    expect(await kept()).toEqual([]);
  });
});

describe("a dismissal", () => {
  it("marks the survey as shown, once, and counts as no response", async () => {
    for (const answer of [await dismiss(), await dismiss()])
      expect([answer.status, answer.body]).toEqual([200, { dismissed: true }]);
    expect(await kept()).toEqual([{ score: null, disappointment: null, comment: null }]);
    expect(await results()).toMatchObject({ responses: 0, detractors: 0, nps: 0 });
  });

  it("leaves an answer as it is", async () => {
    await respond(10, { comment: "Good." });
    await dismiss();
    expect(await kept()).toEqual([{ score: 10, disappointment: "very", comment: "Good." }]);
  });
});

describe("the results", () => {
  interface Said {
    age: number;
    score: number | null;
    disappointment: (typeof ANSWERS)[number] | null;
  }

  /** Arranges what nameless accounts said, `age` milliseconds ago. */
  async function arrange(said: readonly Said[]): Promise<void> {
    await service.sql("delete from survey_responses");
    await service.sql(
      `insert into survey_responses (score, disappointment, comment, created_at)
       select score, disappointment, 'private words', $2::timestamptz - age * interval '1 millisecond'
       from jsonb_to_recordset($1::jsonb) as s(age bigint, score int, disappointment text)`,
      [JSON.stringify(said), NOW],
    );
  }

  /** The mean of 100 for each promoter and -100 for each detractor, to tenths in whole numbers, halves away from 0. */
  function npsOf(scores: readonly number[]): number {
    const sum = scores.reduce((total, score) => total + (score > 8 ? 1 : score < 7 ? -1 : 0), 0);
    const tenths = Math.floor((2000 * Math.abs(sum) + scores.length) / (2 * scores.length));
    return scores.length === 0 || tenths === 0 ? 0 : (Math.sign(sum) * tenths) / 10;
  }

  const answered = fc.record({ score: fc.nat(10), disappointment: fc.constantFrom(...ANSWERS) });
  const said = fc
    .tuple(
      fc.oneof(answered, fc.constant({ score: null, disappointment: null })),
      fc.oneof(
        fc.nat(400 * 24).map((hours) => hours * HOUR),
        fc.constantFrom(0, 1, 720 * HOUR, 720 * HOUR - 1),
      ),
    )
    .map(([one, age]): Said => ({ ...one, age }));

  it("are the counts of the days asked for, and their Net Promoter Score", async () => {
    const worlds = fc.tuple(
      fc.array(said, { maxLength: 40 }),
      fc.oneof(fc.constant(30), fc.integer({ min: 1, max: 365 })),
    );
    const check = async ([world, days]: [Said[], number]) => {
      await arrange(world);
      const counted = world.flatMap((one) => (one.score === null || one.age >= days * 24 * HOUR ? [] : [one]));
      const scores = counted.map(({ score }) => score ?? -1);
      const within = (low: number, high: number) => scores.filter((score) => score >= low && score <= high).length;
      expect(await results(`?days=${days}`)).toEqual({
        days,
        responses: scores.length,
        promoters: within(9, 10),
        passives: within(7, 8),
        detractors: within(0, 6),
        nps: npsOf(scores),
        disappointment: Object.fromEntries(
          ANSWERS.map((answer) => [answer, counted.filter(({ disappointment }) => disappointment === answer).length]),
        ),
      });
    };
    await fc.assert(fc.asyncProperty(worlds, check), { numRuns: 40 });
  });

  it.each([
    [[9, 10, 8, 6], 25],
    [[10, 7, 8], 33.3],
    [[0, 7, 8], -33.3],
    [[9, ...Array<number>(15).fill(7)], 6.3],
    [[6, ...Array<number>(15).fill(8)], -6.3],
    [[0, 6], -100],
  ])("of the scores %j are %d", async (scores, nps) => {
    await arrange(scores.map((score) => ({ age: 0, score, disappointment: "not" })));
    expect((await results()).nps).toBe(nps);
  });

  it("are of 30 days where nothing else is asked for, and hold nobody's words", async () => {
    await arrange([{ age: 29 * 24 * HOUR, score: 9, disappointment: "very" }]);
    const body = await results();
    expect(body).toMatchObject({ days: 30, responses: 1 });
    expect(JSON.stringify(body)).not.toContain("private");
    expect(body).toEqual(await results("?days=30"));
  });

  it.each(["0", "366", "1.5", "many", ""])("are 422 for %j days", async (days) => {
    const { status, body } = await user.call("GET", `/api/v1/pmf/results?days=${days}`);
    expect([status, body.errors[0].in, body.errors[0].pointer]).toEqual([422, "query", "/days"]);
  });
});

it("what an account answered goes with the account, and nobody else's", async () => {
  const leaving = await newUser(service);
  await respond(1, { comment: "Bye." }, leaving);
  await respond(9);
  await service.sql("update users set deletion_scheduled_for = $2 where id = $1", [leaving.id, new Date(+NOW - HOUR)]);
  await service.app.scheduled(DAILY);
  expect((await kept()).map(({ score }) => score)).toEqual([9]);
});
