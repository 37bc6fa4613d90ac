import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";
const ROLES = ["owner", "admin", "editor", "runner", "member", "viewer"] as const;
type Role = (typeof ROLES)[number];
const EDITORS: readonly Role[] = ["owner", "admin", "editor"];

let service: TestService;
let people: Record<Role, User>;
let stranger: User;
let teamId: string;

beforeAll(async () => {
  service = await startService();
  const users = await Promise.all([...ROLES.map(() => newUser(service, { plan: "team" })), newUser(service)]);
  stranger = users.pop() as User;
  people = Object.fromEntries(ROLES.map((role, index) => [role, users[index]])) as Record<Role, User>;
  teamId = await newTeam(people.owner, people);
});

afterAll(() => service.stop());

async function newTeam(owner: User, members: Partial<Record<Role, User>>): Promise<string> {
  const [team] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ($1, $2) returning id", [
    randomUUID(),
    owner.id,
  ]);
  for (const [role, user] of Object.entries(members)) {
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
      team?.id,
      user.id,
      role,
    ]);
  }
  return team?.id ?? "";
}

const create = (by: Caller, fields: object = {}, team = teamId) =>
  by.call("POST", AGENTS, { name: randomUUID(), team_id: team, is_public: false, ...fields });

async function made(fields: object = {}): Promise<string> {
  const answer = await create(people.editor, fields);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

describe("a private agent of a workspace", () => {
  it.each(ROLES)("is read whole by a %s, and is in the lists of this role", async (role) => {
    const id = await made();
    const answer = await people[role].call("GET", `${AGENTS}/${id}`);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { team_id: teamId, user_id: people.editor.id, connection_mode: "mock" },
    ]);
    for (const query of ["", `&team_id=${teamId}`]) {
      const list = await people[role].call("GET", `${AGENTS}?page_size=100${query}`);
      expect(list.body.items.map((item: { id: string }) => item.id)).toContain(id);
    }
    const personal = await people[role].call("GET", `${AGENTS}?page_size=100&scope=personal`);
    expect(personal.body.items).toEqual([]);
  });

  it.each(ROLES)("is made, changed and deleted as the role allows: %s", async (role) => {
    const id = await made();
    const by = people[role];
    const answers = [
      await create(by),
      await by.call("PATCH", `${AGENTS}/${id}`, { description: role }),
      await by.call("DELETE", `${AGENTS}/${id}`),
    ];
    const expected = EDITORS.includes(role) ? [201, 200, 204] : [403, 403, 403];
    expect(answers.map(({ status }) => status)).toEqual(expected);
  });

  it("is 404 for a stranger and for nobody, and so is its workspace", async () => {
    const id = await made();
    for (const by of [stranger, caller(service)]) {
      expect((await by.call("GET", `${AGENTS}/${id}`)).status).toBe(404);
    }
    const answers = [
      await stranger.call("PATCH", `${AGENTS}/${id}`, { description: "x" }),
      await stranger.call("DELETE", `${AGENTS}/${id}`),
      await stranger.call("GET", `${AGENTS}?team_id=${teamId}`),
      await create(stranger),
      await create(stranger, {}, randomUUID()),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  it("is 404 for who made it but left since", async () => {
    const leaver = await newUser(service);
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [
      teamId,
      leaver.id,
    ]);
    const { id } = (await create(leaver)).body;
    await service.sql("delete from team_members where user_id = $1", [leaver.id]);
    expect((await leaver.call("GET", `${AGENTS}/${id}`)).status).toBe(404);
    expect((await leaver.call("DELETE", `${AGENTS}/${id}`)).status).toBe(404);
    expect((await people.viewer.call("GET", `${AGENTS}/${id}`)).status).toBe(200);
  });
});

describe("names and quotas of a workspace", () => {
  it("are its own: a name is unique in it, and free elsewhere", async () => {
    const name = randomUUID();
    await made({ name });
    const taken = await create(people.admin, { name: name.toUpperCase() });
    expect([taken.status, taken.body.code]).toEqual([409, "duplicate_name"]);
    expect((await people.admin.call("POST", AGENTS, { name })).status).toBe(201);
  });

  it("keep a name to one agent when creations and renamings of several members meet", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [name, id] = [randomUUID(), await made()];
      const answers = await Promise.all([
        create(people.owner, { name }),
        create(people.admin, { name }),
        people.editor.call("PATCH", `${AGENTS}/${id}`, { name }),
      ]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status < 300)).toHaveLength(1);
      expect(statuses.filter((status) => status === 409)).toHaveLength(2);
    }
  });

  it("go by the plan of the workspace's owner, whoever creates", async () => {
    const boss = await newUser(service, { plan: "team" });
    const team = await newTeam(boss, { owner: boss, editor: people.editor, admin: people.admin });
    const creators = [boss, people.editor, people.admin, boss, people.editor, people.admin];
    const codes = async () => {
      const answers = await Promise.all(creators.map((by) => create(by, {}, team)));
      return [...new Set(answers.map(({ status, body }) => body.code ?? status))];
    };
    expect(await codes()).toEqual([201]);
    await service.sql("update users set plan = 'pro' where id = $1", [boss.id]);
    expect(await codes()).toEqual(["quota_exceeded"]);
  });

  it("let a variant have only a root of the same workspace", async () => {
    const root = await made();
    const personal = (await people.editor.call("POST", AGENTS, { name: randomUUID() })).body.id;
    expect((await create(people.admin, { variant_of: root })).status).toBe(201);
    const answers = [
      await create(people.editor, { variant_of: personal }),
      await people.editor.call("POST", AGENTS, { name: randomUUID(), variant_of: root }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([422, "invalid_variant"]);
  });
});
