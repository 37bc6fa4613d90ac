import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { AXES } from "../../../shared/scorecards/shown.ts";
import { TEMPLATES } from "../../../shared/scorecards/templates.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, tally, unique } from "../runs/support.ts";

const SCORECARDS = "/api/v1/scorecards";
const ROLES = ["owner", "admin", "editor", "runner", "member", "viewer"] as const;
type Role = (typeof ROLES)[number];
const EDITORS: readonly Role[] = ["owner", "admin", "editor"];

let service: TestService;
let people: Record<Role, User>;
let team: string;
let user: User;
/** Who makes nothing, and is a member of nothing. */
let stranger: User;

beforeAll(async () => {
  service = await startService();
  const users = await Promise.all(ROLES.map(() => newUser(service, { plan: "team" })));
  people = Object.fromEntries(ROLES.map((role, index) => [role, users[index]])) as Record<Role, User>;
  [user, stranger] = [await newUser(service), await newUser(service)];
  team = await newTeam(people.owner);
  for (const role of ROLES) await join(team, people[role], role);
});

afterAll(() => service.stop());

async function newTeam(owner: User): Promise<string> {
  const text = "insert into teams (name, owner_id) values ($1, $2) returning id";
  return (await service.sql<{ id: string }>(text, [unique("Team"), owner.id]))[0]?.id ?? "";
}

async function join(teamId: string, member: User, role: Role): Promise<void> {
  const text = "insert into team_members (team_id, user_id, role) values ($1, $2, $3)";
  await service.sql(text, [teamId, member.id, role]);
}

/** Adds `size` scorecards to an account beside the service. */
async function fill(owner: User, size: number): Promise<void> {
  await service.sql(
    `insert into scorecards (user_id, name, correctness, latency, cost, tool_efficiency, robustness)
     select $1, 'Filled ' || n, 1, 0, 0, 0, 0 from generate_series(1, $2::integer) n`,
    [owner.id, size],
  );
}

const create = (by: User, fields: object = {}) =>
  by.call("POST", SCORECARDS, { name: unique("Scorecard"), weights: { correctness: 1 }, ...fields });

async function made(by: User, fields: object = {}): Promise<string> {
  const answer = await create(by, fields);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

describe("a scorecard", () => {
  it("reads as it was made, its weights adding up to 1 and missing ones 0, until it is deleted", async () => {
    const weights = { correctness: 1, latency: 1, cost: 2 };
    const { status, headers, body } = await create(user, { name: " Mine ", weights });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`${SCORECARDS}/${body.id}`);
    expect(body).toEqual({
      id: body.id,
      name: "Mine",
      weights: { correctness: 0.25, latency: 0.25, cost: 0.5, tool_efficiency: 0, robustness: 0 },
      team_id: null,
      is_template: false,
      created_at: body.created_at,
    });
    expect((await user.call("GET", `${SCORECARDS}/${body.id}`)).body).toEqual(body);
    expect((await user.call("GET", SCORECARDS)).body.items).toContainEqual(body);
    expect((await user.call("DELETE", `${SCORECARDS}/${body.id}`)).status).toBe(204);
    for (const method of ["GET", "DELETE"])
      expect((await user.call(method, `${SCORECARDS}/${body.id}`)).status).toBe(404);
  });

  it("changes in what is given, all weights together; what was read can be sent back without a change", async () => {
    const id = await made(user, { name: "Before", weights: { correctness: 1, latency: 1, robustness: 1 } });
    const change = async (fields: object) => (await user.call("PATCH", `${SCORECARDS}/${id}`, fields)).body;
    const read = await change({ name: "After" });
    expect(read).toMatchObject({ name: "After", weights: { correctness: 1 / 3, cost: 0 } });
    expect(await change({ weights: read.weights })).toEqual(read);
    expect(await change({})).toEqual(read);
    const weights = { correctness: 0, latency: 0, cost: 1, tool_efficiency: 0, robustness: 0 };
    expect(await change({ weights: { cost: 7 } })).toEqual({ ...read, weights });
    expect(await change({ weights: { cost: 1.0000000001 } })).toEqual({ ...read, weights });
    expect((await user.call("GET", SCORECARDS)).status).toBe(200);
  });

  it.each([
    ["no name", { name: undefined }, "/name"],
    ["an empty name", { name: "  " }, "/name"],
    ["a name of 81 characters", { name: "x".repeat(81) }, "/name"],
    ["no weights", { weights: undefined }, "/weights"],
    ["no weight above 0", { weights: { correctness: 0, cost: 0 } }, "/weights"],
    ["a negative weight", { weights: { correctness: 1, cost: -0.1 } }, "/weights/cost"],
    ["a weight that no number holds", '{"name": "x", "weights": {"cost": 1e999}}', "/weights/cost"],
    ["a weight beyond a million", { weights: { cost: 1_000_001 } }, "/weights/cost"],
    ["a weight as text", { weights: { cost: "1" } }, "/weights/cost"],
    ["an axis that there is not", { weights: { correctness: 1, charm: 1 } }, "/weights/charm"],
    ["a workspace that is no id", { team_id: "mine" }, "/team_id"],
  ])("with %s is 422 at its place, and nothing is kept", async (_what, fields, pointer) => {
    const given = { name: "x", weights: { correctness: 1 } };
    const body = typeof fields === "string" ? fields : { ...given, ...fields };
    const answer = await stranger.call("POST", SCORECARDS, body);
    expect([answer.status, answer.body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
      422,
      [pointer],
    ]);
    expect((await stranger.call("GET", SCORECARDS)).body.total).toBe(0);
  });

  it("has a name that is unique among its owner's in any case, and free for others", async () => {
    const name = unique("Weights");
    const [first, second] = [await made(people.editor, { name }), await made(people.editor)];
    const taken = [
      await create(people.editor, { name: name.toUpperCase() }),
      await people.editor.call("PATCH", `${SCORECARDS}/${second}`, { name: name.toLowerCase() }),
    ];
    for (const { status, body } of taken) expect([status, body.code]).toEqual([409, "duplicate_name"]);
    await made(people.editor, { name, team_id: team });
    await made(user, { name });
    const recased = await people.editor.call("PATCH", `${SCORECARDS}/${first}`, { name: name.toUpperCase() });
    expect([recased.status, recased.body.name]).toEqual([200, name.toUpperCase()]);
  });

  it("comes to be once for one Idempotency-Key", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = { name: "Once", weights: { cost: 1 } };
    const [first, second] = [
      await user.call("POST", SCORECARDS, body, headers),
      await user.call("POST", SCORECARDS, body, headers),
    ];
    expect(second.body).toEqual(first.body);
    expect([first.status, second.status, second.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
  });

  it("goes with its account, and those of the account's workspaces do", async () => {
    const leaver = await newUser(service);
    const own = await newTeam(leaver);
    await join(own, leaver, "owner");
    await made(leaver);
    await made(leaver, { team_id: own });
    const others = await made(people.admin);
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [leaver.id]);
    await service.app.scheduled(DAILY);
    expect(await service.sql("select from scorecards where user_id = $1", [leaver.id])).toEqual([]);
    expect((await people.admin.call("GET", `${SCORECARDS}/${others}`)).status).toBe(200);
  });
});

describe("an owner's limit of 50", () => {
  it("is refused with what is used, and holds when creations meet; a workspace has its own", async () => {
    const collector = await newUser(service);
    await fill(collector, 48);
    // The account's row is held until all are under way: whoever counts before waiting counts too few.
    const held = service.sql("select pg_sleep(0.3) from (select from users where id = $1 for update) held", [
      collector.id,
    ]);
    const answers = await Promise.all(range(6).map(() => create(collector)));
    await held;
    expect(tally(answers)).toEqual({ 201: 2, 402: 4 });
    const { body } = answers.find(({ status }) => status === 402) ?? {};
    expect(body).toMatchObject({ code: "quota_exceeded", limit: 50, used: 50, resets_at: null });
    await join(team, collector, "editor");
    await made(collector, { team_id: team });
  });

  it("counts a name once when creations and renamings meet", async () => {
    for (const _round of range(3)) {
      const [name, id] = [unique("Race"), await made(people.editor, { team_id: team })];
      const answers = await Promise.all([
        create(people.owner, { name, team_id: team }),
        create(people.admin, { name, team_id: team }),
        people.editor.call("PATCH", `${SCORECARDS}/${id}`, { name }),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(tally(answers)[409]).toBe(2);
    }
  });
});

describe("a scorecard of a workspace", () => {
  it.each(ROLES)("is seen by a %s, and made, changed and deleted as the role allows", async (role) => {
    const by = people[role];
    const id = await made(people.editor, { team_id: team });
    expect((await by.call("GET", `${SCORECARDS}/${id}`)).body).toMatchObject({ id, team_id: team });
    for (const query of ["", `&team_id=${team}`]) {
      const list = await by.call("GET", `${SCORECARDS}?page_size=100${query}`);
      expect(list.body.items.map((item: { id: string }) => item.id)).toContain(id);
    }
    const answers = [
      await by.call("GET", `${SCORECARDS}/${id}/board`),
      await create(by, { team_id: team }),
      await by.call("PATCH", `${SCORECARDS}/${id}`, { weights: { robustness: 1 } }),
      await by.call("DELETE", `${SCORECARDS}/${id}`),
    ];
    const expected = EDITORS.includes(role) ? [200, 201, 200, 204] : [200, 403, 403, 403];
    expect(answers.map(({ status }) => status)).toEqual(expected);
    const after = await people.editor.call("GET", `${SCORECARDS}/${id}`);
    if (EDITORS.includes(role)) expect(after.status).toBe(404);
    else expect(after.body.weights).toMatchObject({ correctness: 1, robustness: 0 });
  });

  it("is 404 for strangers and for who made it but left, as is its workspace", async () => {
    const leaver = await newUser(service);
    await join(team, leaver, "editor");
    const id = await made(leaver, { team_id: team });
    await service.sql("delete from team_members where user_id = $1", [leaver.id]);
    for (const by of [stranger, leaver]) {
      const answers = [
        await by.call("GET", `${SCORECARDS}/${id}`),
        await by.call("PATCH", `${SCORECARDS}/${id}`, { name: "x" }),
        await by.call("DELETE", `${SCORECARDS}/${id}`),
        await by.call("GET", `${SCORECARDS}/${id}/board`),
        await by.call("GET", `${SCORECARDS}?team_id=${team}`),
        await create(by, { team_id: team }),
        await create(by, { team_id: randomUUID() }),
      ];
      expect(tally(answers)).toEqual({ 404: 7 });
      expect((await by.call("GET", SCORECARDS)).body.total).toBe(0);
    }
    expect((await people.viewer.call("GET", `${SCORECARDS}/${id}`)).status).toBe(200);
  });

  it("stays out of lists of another workspace, and a personal one out of the workspace's", async () => {
    const other = await newTeam(people.owner);
    await join(other, people.owner, "owner");
    const [personal, theirs] = [await made(people.owner), await made(people.owner, { team_id: other })];
    const ids = async (query: string) =>
      (await people.owner.call("GET", `${SCORECARDS}?page_size=100${query}`)).body.items.map(
        (item: { id: string }) => item.id,
      );
    expect(await ids(`&team_id=${other}`)).toEqual([theirs]);
    expect(await ids(`&team_id=${team}`)).not.toContain(personal);
    expect((await ids("")).slice(0, 2)).toEqual([theirs, personal]);
  });
});

describe("the templates", () => {
  it("are everybody's to read, with weights that add up to 1, and not among anybody's own", async () => {
    const { body } = await user.call("GET", `${SCORECARDS}/templates`);
    expect(body).toEqual({ items: TEMPLATES, total: 4, page: 1, page_size: 20 });
    for (const { weights } of TEMPLATES) expect(AXES.reduce((sum, axis) => sum + weights[axis], 0)).toBeCloseTo(1, 9);
    for (const template of TEMPLATES)
      expect((await stranger.call("GET", `${SCORECARDS}/${template.id.toUpperCase()}`)).body).toEqual(template);
    const second = await user.call("GET", `${SCORECARDS}/templates?page=2&page_size=3`);
    expect(second.body).toEqual({ items: TEMPLATES.slice(3), total: 4, page: 2, page_size: 3 });
    expect((await stranger.call("GET", SCORECARDS)).body.total).toBe(0);
  });

  it.each(TEMPLATES.map(({ name, id }) => [name, id]))("can't be changed or deleted: %s", async (_name, id) => {
    for (const [method, body] of [["PATCH", { name: "Mine" }], ["PATCH", {}], ["DELETE"]] as const) {
      const answer = await people.owner.call(method, `${SCORECARDS}/${id}`, body);
      expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
    }
  });
});
