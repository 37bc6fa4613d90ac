import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, startAgent, tally, type TestSuite, unique } from "../runs/support.ts";
import { addTeam, TEAMS } from "./teams-support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let admin: User;
let team: string;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  [owner, admin] = [await newUser(service, { plan: "enterprise" }), await newUser(service)];
  suite = await addSuite(service, 2);
  team = await addTeam(service, owner, { admin });
});

afterAll(() => Promise.all([service.stop(), endpoint.stop()]));

const make = (of = team, fields: object = { scope: "write" }, by: Caller = admin) =>
  by.call("POST", `${TEAMS}/${of}/api-keys`, { name: unique("Key"), ...fields });

const EVERYTHING = ["agents", "runs", "webhooks", "schedules", "scorecards", "teams"].map((one) => `${one}:write`);

async function holder(of = team, by: Caller = admin): Promise<Caller & { id: string }> {
  const { body } = await make(of, { scopes: EVERYTHING, rate_limit_per_minute: 6000 }, by);
  return { ...caller(service, { "x-api-key": body.key }), id: body.id };
}

const codes = (answers: { status: number; body: { code?: string } }[]) =>
  answers.map(({ status, body }) => [status, body?.code]);

describe("a workspace's key", () => {
  it("is made, listed, changed, rotated and revoked by admins, whoever made it", async () => {
    const made = await make();
    expect([made.status, made.body.team_id]).toEqual([201, team]);
    const at = made.headers.get("location") ?? "";
    const { key, ...shown } = made.body;
    const listed = await owner.call("GET", `${TEAMS}/${team}/api-keys`);
    expect(listed.body.items).toContainEqual(shown);
    expect((await owner.call("GET", "/api/v1/api-keys")).body.total).toBe(0);
    expect((await owner.call("PATCH", at, { quota_per_day: 7 })).body.quota_per_day).toBe(7);
    const rotated = await owner.call("POST", `${at}/rotate`);
    expect((await owner.call("DELETE", at)).status).toBe(204);
    for (const gone of [key, rotated.body.key])
      expect((await caller(service, { "x-api-key": gone }).call("GET", TEAMS)).status).toBe(401);
  });

  it("is nobody else's to see or to end", async () => {
    const { body } = await make();
    const [editor, stranger] = [await newUser(service), await newUser(service)];
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [team, editor.id]);
    for (const by of [editor, stranger]) {
      const at = `/api/v1/api-keys/${body.id}`;
      const answers = [
        await by.call("GET", at),
        await by.call("PATCH", at, { name: "mine" }),
        await by.call("POST", `${at}/rotate`),
        await by.call("DELETE", at),
      ];
      expect(codes(answers)).toEqual(answers.map(() => [404, "not_found"]));
    }
    expect(codes([await make(team, undefined, editor), await make(team, undefined, stranger)])).toEqual([
      [403, "forbidden"],
      [404, "not_found"],
    ]);
    expect((await caller(service, { "x-api-key": body.key }).call("GET", "/api/v1/agents")).status).toBe(200);
  });

  it("has a name that no other key of the workspace has, however many ask at once", async () => {
    const name = unique("Deploy");
    const answers = await Promise.all(["a", "b", "c", "d"].map(() => make(team, { name, scope: "read" })));
    expect(tally(answers)).toEqual({ 201: 1, 409: 3 });
    expect((await admin.call("POST", "/api/v1/api-keys", { name, scope: "read" })).status).toBe(201);
  });

  it("makes what belongs to the workspace, in its owner's name, and has the workspace pay", async () => {
    const by = await holder();
    const { body: agent } = await by.call("POST", "/api/v1/agents", { name: unique("Agent"), endpoint: endpoint.url });
    expect(agent).toMatchObject({ team_id: team });
    const imported = await by.call("POST", "/api/v1/agents/bulk", { rows: [{ name: unique("Bulk") }] });
    expect(imported.status, imported.text).toBe(200);
    const [bulk] = await service.sql("select team_id, user_id from agents where name like 'Bulk%'");
    expect(bulk).toEqual({ team_id: team, user_id: owner.id });
    const counts = async () => {
      const [ofTeam, ofOwner] = [
        await owner.call("GET", `${TEAMS}/${team}`),
        await owner.call("GET", "/api/v1/auth/me"),
      ];
      return [ofTeam.body.monthly_run_count, ofOwner.body.monthly_run_count];
    };
    const [before, ofOwner] = await counts();
    const batch = await by.call("POST", "/api/v1/runs/batch", { agent_id: agent.id, task_ids: suite.tasks });
    expect([batch.status, batch.body[0].team_id, batch.body[0].trigger]).toEqual([200, team, "api"]);
    const single = await by.call("POST", "/api/v1/runs", { agent_id: agent.id, task_id: suite.tasks[0] });
    expect(single.status).toBe(202);
    await service.settled();
    expect(await counts()).toEqual([before + 3, ofOwner]);
    const runs = await by.call("GET", `/api/v1/runs?agent_id=${agent.id}`);
    expect(runs.body.items.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill("completed"));
    const exported = await by.call("GET", `/api/v1/runs/export.jsonl?agent_id=${agent.id}`);
    expect(exported.text.trimEnd().split("\n")).toHaveLength(3);
    const hook = { url: endpoint.url, event_types: ["run.completed"] };
    const things = [
      await by.call("POST", "/api/v1/webhooks", { ...hook, agent_id: agent.id }),
      await by.call("POST", "/api/v1/scorecards", { name: unique("Ours"), weights: { correctness: 1 } }),
      await by.call("POST", "/api/v1/screening-schedules", {
        agent_id: agent.id,
        task_ids: suite.tasks,
        repeats: 1,
        cron: "0 4 * * *",
      }),
    ];
    expect(things.map(({ status, text }) => (status === 201 ? status : text))).toEqual([201, 201, 201]);
    const [webhook, scorecard, schedule] = things.map(({ body }) => body);
    expect([webhook.team_id, scorecard.team_id, schedule.user_id]).toEqual([team, team, owner.id]);
    for (const { headers } of things) expect((await admin.call("GET", headers.get("location") ?? "")).status).toBe(200);
    const rows = await service.sql("select distinct user_id from runs where agent_id = $1", [agent.id]);
    expect(rows).toEqual([{ user_id: owner.id }]);
    const unnamed = await by.call("POST", "/api/v1/webhooks", hook);
    expect(codes([unnamed])).toEqual([[422, "validation_failed"]]);
  });

  it("reaches nothing that is its owner's, its maker's or another workspace's", async () => {
    const by = await holder();
    const elsewhere = await addTeam(service, owner);
    const hidden = [
      await addAgent(owner, { is_public: false }),
      await addAgent(admin, { is_public: false }),
      await addAgent(owner, { team_id: elsewhere, is_public: false }),
    ];
    const own = await addAgent(owner, { team_id: team, is_public: false });
    const listed = await by.call("GET", "/api/v1/agents?page_size=100");
    const ids = listed.body.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain(own);
    expect(ids.filter((id: string) => hidden.includes(id))).toEqual([]);
    for (const agent of hidden) {
      const answers = [
        await by.call("GET", `/api/v1/agents/${agent}`),
        await by.call("PATCH", `/api/v1/agents/${agent}`, { description: "x" }),
        await by.call("DELETE", `/api/v1/agents/${agent}`),
        await by.call("POST", "/api/v1/runs", { agent_id: agent, task_id: suite.tasks[0] }),
      ];
      expect(codes(answers)).toEqual(answers.map(() => [404, "not_found"]));
    }
    const teams = await by.call("GET", TEAMS);
    expect(teams.body.items).toEqual([expect.objectContaining({ id: team, role: "editor" })]);
    expect(
      codes([
        await by.call("GET", "/api/v1/auth/me"),
        await by.call("GET", `${TEAMS}/${elsewhere}`),
        await by.call("POST", "/api/v1/agents", { name: unique("Other"), team_id: elsewhere }),
        await by.call("PATCH", `${TEAMS}/${team}`, { name: "Mine" }),
        await by.call("GET", `${TEAMS}/${team}/api-keys`),
        await by.call("GET", "/api/v1/api-keys"),
      ]),
    ).toEqual([
      [403, "forbidden"],
      [404, "not_found"],
      [404, "not_found"],
      [403, "forbidden"],
      [403, "session_required"],
      [403, "session_required"],
    ]);
  });

  it("has for its own the runs that were asked for in the workspace, in the list and the export, while it sees them", async () => {
    const by = await holder(await addTeam(service, owner), owner);
    const { id: agent, team_id: here } = (await by.call("POST", "/api/v1/agents", { name: unique("Agent") })).body;
    const { id: moving } = (await by.call("POST", "/api/v1/agents", { name: unique("Agent") })).body;
    const run = async (who: Caller, fields: object) =>
      (await who.call("POST", "/api/v1/runs", { task_id: suite.tasks[0], ...fields })).body.id;
    const stays = [await run(by, { agent_id: agent, private: true }), await run(owner, { agent_id: agent })];
    const open = await run(by, { agent_id: moving });
    const hidden = await run(by, { agent_id: moving, private: true });
    await run(owner, { agent_id: await addAgent(owner, { is_public: true }) });
    await service.settled();
    const own = async (narrowed = "") => {
      const { body } = await by.call("GET", `/api/v1/runs?mine=true${narrowed}`);
      const { text } = await by.call("GET", `/api/v1/runs/export.jsonl?${narrowed}`);
      const lines = text.split("\n").slice(0, -1);
      expect(lines.map((line) => JSON.parse(line))).toEqual(body.items);
      return body.items.map(({ id }: { id: string }) => id);
    };
    expect(await own()).toEqual([hidden, open, ...stays.toReversed()]);
    expect(await own(`&agent_id=${agent}`)).toEqual(stays.toReversed());
    const elsewhere = { team_id: await addTeam(service, owner) };
    expect((await owner.call("POST", `/api/v1/agents/${moving}/transfer-to-workspace`, elsewhere)).status).toBe(200);
    expect((await by.call("GET", `/api/v1/runs/${hidden}`)).status).toBe(404);
    expect(await own()).toEqual([open, ...stays.toReversed()]);
    expect(codes([await by.call("GET", `/api/v1/runs?mine=true&team_id=${here}`)])).toEqual([
      [422, "conflicting_parameters"],
    ]);
  });

  it("runs no stranger's agent, though that allows trials", async () => {
    const by = await holder();
    const open = await addAgent(await newUser(service), { endpoint: endpoint.url, allow_trial: true });
    const refused = await by.call("POST", "/api/v1/runs", { agent_id: open, task_id: suite.tasks[0] });
    expect(codes([refused])).toEqual([[403, "forbidden"]]);
  });

  it("stays when its maker leaves, and ends with the workspace at once", async () => {
    const leaving = await newUser(service);
    const shortLived = await addTeam(service, owner, { admin: leaving });
    const by = await holder(shortLived, leaving);
    await leaving.call("DELETE", `${TEAMS}/${shortLived}/members/${leaving.id}`);
    expect((await by.call("GET", TEAMS)).body.total).toBe(1);
    expect((await owner.call("DELETE", `${TEAMS}/${shortLived}`)).status).toBe(204);
    expect((await by.call("GET", TEAMS)).status).toBe(401);
  });
});
