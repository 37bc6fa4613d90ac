import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import { KEY_SCOPES } from "../../../shared/db/schema/index.ts";
import { type Action, KEY_ROLE, RIGHTS, type Role } from "../../../shared/teams/rights.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { certify } from "../payments/certify-support.ts";
import {
  CHANGE,
  type Kind,
  KINDS,
  nameOf,
  type Operation,
  ROLES,
  SAME_FOR_ALL,
  THINGS,
  viewsOf,
  type World,
  WRONG_BODIES,
} from "./rights-matrix-support.ts";
import { addAgent, addSuite, from, startAgent, type TestSuite, unique } from "../runs/support.ts";
import { addTeam, elsewhere } from "./teams-support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let users: User[];
let moves = 0;
let owner: User;
let guest: User;
let callers: Record<Kind, Caller>;
/** API keys of the workspace and of another one of the same owner, of every scope. */
let keys: Record<"key" | "other key", string> | undefined;
/** The same of a private and of a public agent. */
let worlds: { private: World; public: World };

/** Everything that a member could do with a workspace's things, by method and path. */
const OPERATIONS: Record<string, Operation> = {
  "POST /api/v1/agents": { needs: "edit", success: 201, body: ({ team }) => ({ ...named(), team_id: team }) },
  "GET /api/v1/agents/{agent_id}": { needs: "see" },
  "PATCH /api/v1/agents/{agent_id}": { needs: "edit", body: () => ({ description: "x" }) },
  "DELETE /api/v1/agents/{agent_id}": { needs: "edit", success: 204, fresh: freshAgent },
  "POST /api/v1/agents/{agent_id}/transfer-to-workspace": { needs: "edit", body: ({ team }) => ({ team_id: team }) },
  "POST /api/v1/agents/{agent_id}/otlp-token": { needs: "edit" },
  "DELETE /api/v1/agents/{agent_id}/otlp-token": { needs: "edit", success: 204 },
  "GET /api/v1/agents/{agent_id}/stats": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/history": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/blueprint": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/blueprint/versions": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/frontier": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/credential": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/screening-sessions": { needs: "see" },
  "GET /api/v1/agents/{agent_id}/readiness": { needs: "run" },
  "POST /api/v1/agents/{agent_id}/readiness/check": { needs: "run" },
  "GET /api/v1/playbooks/declared-configurations": {
    needs: "edit",
    query: ({ agent_id: id }) => `?agent_id=${id}`,
  },
  "POST /api/v1/runs": {
    needs: "run",
    success: 202,
    body: (world) => ({ ...ofAgent(world), task_id: suite.tasks[0] }),
  },
  "POST /api/v1/runs/batch": { needs: "run", body: (world) => ({ ...ofAgent(world), task_ids: suite.tasks }) },
  "GET /api/v1/runs/{run_id}": { needs: "see" },
  "PATCH /api/v1/runs/{run_id}": { needs: "edit", body: () => ({ status: "running" }) },
  "POST /api/v1/runs/{run_id}/cancel": { needs: "run" },
  "GET /api/v1/runs/{run_id}/phases": { needs: "see" },
  "GET /api/v1/runs/{run_id}/output": { needs: "see_outputs" },
  "GET /api/v1/runs/{run_id}/spans": { needs: "see_outputs" },
  "GET /api/v1/runs/{run_id}/evidence": { needs: "see" },
  "GET /api/v1/runs/{run_id}/events": { needs: "see" },
  "GET /api/v1/screening-sessions/{session_id}": { needs: "see" },
  "GET /api/v1/screening-sessions/{session_id}/events": { needs: "see" },
  "GET /api/v1/screening-sessions/{session_id}/compare": {
    needs: "see",
    query: ({ session_id: id }) => `?with=${id}`,
  },
  "POST /api/v1/screening-sessions/{session_id}/cancel": { needs: "run" },
  "POST /api/v1/screening-sessions/{session_id}/rerun": { needs: "run", success: 422, body: () => ({}) },
  "POST /api/v1/screening-schedules": { needs: "run", success: 201, body: schedule },
  "GET /api/v1/screening-schedules/{id}": { needs: "see" },
  "PATCH /api/v1/screening-schedules/{id}": { needs: "run", body: () => ({ repeats: 2 }) },
  "DELETE /api/v1/screening-schedules/{id}": { needs: "run", success: 204, fresh: freshSchedule },
  "POST /api/v1/webhooks": { needs: "edit", success: 201, body: webhook },
  "GET /api/v1/webhooks/{id}": { needs: "see" },
  "PATCH /api/v1/webhooks/{id}": { needs: "edit", body: () => ({ description: "x" }) },
  "DELETE /api/v1/webhooks/{id}": { needs: "edit", success: 204, fresh: freshWebhook },
  "POST /api/v1/webhooks/{id}/test": { needs: "edit" },
  "POST /api/v1/webhooks/{id}/rotate-secret": { needs: "edit", body: () => ({}) },
  "GET /api/v1/webhooks/{id}/deliveries": { needs: "see" },
  "POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": { needs: "edit", success: 202 },
  "POST /api/v1/scorecards": { needs: "edit", success: 201, body: scorecard },
  "GET /api/v1/scorecards/{id}": { needs: "see" },
  "PATCH /api/v1/scorecards/{id}": { needs: "edit", body: () => ({ weights: { cost: 1 } }) },
  "DELETE /api/v1/scorecards/{id}": { needs: "edit", success: 204, fresh: freshScorecard },
  "GET /api/v1/scorecards/{id}/board": { needs: "see" },
  "GET /api/v1/teams/{id}": { needs: "see" },
  "PATCH /api/v1/teams/{id}": { needs: "own", body: named },
  "DELETE /api/v1/teams/{id}": { needs: "own", success: 204, fresh: freshTeam },
  "POST /api/v1/teams/{id}/transfer-ownership": {
    needs: "own",
    body: () => ({ user_id: guest.id }),
    fresh: freshTeam,
  },
  "GET /api/v1/teams/{id}/activity": { needs: "see" },
  "GET /api/v1/teams/{id}/api-keys": { needs: "manage_members" },
  "POST /api/v1/teams/{id}/api-keys": { needs: "manage_members", success: 201, body: newKey, fresh: freshTeam },
  "GET /api/v1/teams/{id}/members": { needs: "see" },
  "PATCH /api/v1/teams/{id}/members/{user_id}": {
    needs: "manage_members",
    body: () => ({ role: "runner" }),
    fresh: freshTeam,
  },
  "DELETE /api/v1/teams/{id}/members/{user_id}": { needs: "manage_members", success: 204, fresh: freshTeam },
  "POST /api/v1/teams/{id}/invitations": { needs: "manage_members", success: 201, body: invitation, fresh: freshTeam },
  "GET /api/v1/teams/{id}/invitations": { needs: "manage_members" },
  "DELETE /api/v1/teams/{id}/invitations/{invitation_id}": {
    needs: "manage_members",
    success: 204,
    fresh: freshTeam,
  },
};

function named(): object {
  return { name: unique("Name") };
}

function ofAgent({ agent_id: id }: World): object {
  return { agent_id: id };
}

function newKey(): object {
  return { ...named(), scopes: KEY_SCOPES, rate_limit_per_minute: 6000 };
}

function invitation(): object {
  return { email: `${randomUUID()}@example.test`, role: "viewer" };
}

function schedule(world: World): object {
  return { ...ofAgent(world), task_ids: suite.tasks, repeats: 1, cron: "0 3 * * *" };
}

function webhook(world: World): object {
  return { ...ofAgent(world), url: endpoint.url, event_types: ["run.completed"] };
}

function scorecard({ team }: World): object {
  return { ...named(), weights: { correctness: 1 }, team_id: team };
}

async function made(path: string, body: object): Promise<string> {
  const answer = await owner.call("POST", path, body);
  if (answer.status > 202) throw new Error(answer.text);
  return answer.body.id;
}

async function freshAgent({ team, visibility }: World): Promise<Partial<World>> {
  return { agent_id: await addAgent(owner, { team_id: team, is_public: visibility === "public" }) };
}

async function freshSchedule(world: World): Promise<Partial<World>> {
  return { "/screening-schedules": await made("/api/v1/screening-schedules", schedule(world)) };
}

async function freshWebhook(world: World): Promise<Partial<World>> {
  return { "/webhooks": await made("/api/v1/webhooks", webhook(world)) };
}

async function freshScorecard(world: World): Promise<Partial<World>> {
  return { "/scorecards": await made("/api/v1/scorecards", scorecard(world)) };
}

/** The member to whom things are done. */
async function addGuest(team: string): Promise<void> {
  await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, guest.id]);
}

async function keyOf(team: string): Promise<string> {
  return (await owner.call("POST", `/api/v1/teams/${team}/api-keys`, newKey())).body.key;
}

/** A workspace of three at most, so that a seat is free, with an invitation that is open. */
async function freshTeam(_world: World, kind: Kind): Promise<Partial<World>> {
  const member = kind === "owner" ? undefined : users[ROLES.indexOf(kind as Role)];
  const team = await addTeam(service, owner, member === undefined ? {} : { [kind]: member });
  await addGuest(team);
  const invited = await made(`/api/v1/teams/${team}/invitations`, invitation());
  return { "/teams": team, user_id: guest.id, invitation_id: invited };
}

async function newWorld(team: string, visibility: "private" | "public"): Promise<World> {
  const agent = await addAgent(owner, { team_id: team, endpoint: endpoint.url, is_public: visibility === "public" });
  const world: World = { team, visibility, agent_id: agent, "/teams": team, user_id: guest.id, invitation_id: team };
  const runs = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: suite.tasks });
  await service.settled();
  const [run] = runs.body;
  await certify(service, agent, run.screening_session_id);
  return { ...world, run_id: run.id, session_id: run.screening_session_id, ...(await belongings(world)) };
}

async function belongings(world: World): Promise<Partial<World>> {
  const hook = await freshWebhook(world);
  const delivery = await made(`/api/v1/webhooks/${hook["/webhooks"]}/test`, {});
  return { ...hook, delivery_id: delivery, ...(await freshScorecard(world)), ...(await freshSchedule(world)) };
}

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  suite = await addSuite(service, 1);
  users = await Promise.all(KINDS.map(() => newUser(service, { plan: "enterprise" })));
  await settle();
  const members = ROLES.filter((role) => role !== "owner").map((role) => [role, callers[role] as User]);
  const team = await addTeam(service, owner, Object.fromEntries(members) as Record<string, User>);
  await addGuest(team);
  worlds = { private: await newWorld(team, "private"), public: await newWorld(team, "public") };
  keys = { key: await keyOf(team), "other key": await keyOf(await addTeam(service, owner)) };
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

/** Gives everybody a place of its own, so that nobody meets a limit of what came before. */
async function settle(): Promise<void> {
  const moved = elsewhere(users);
  [owner, guest] = [moved[ROLES.indexOf("owner")] as User, moved.at(-1) as User];
  const kinds = KINDS.map((kind, index) => [
    kind,
    kind === "anonymous" ? caller(service, from((moves += 1))) : moved[index],
  ]);
  const keyed = Object.entries(keys ?? {}).map(([kind, key]) => [kind, caller(service, { "x-api-key": key })]);
  callers = Object.fromEntries([...kinds, ...keyed]) as Record<Kind, Caller>;
}

/** What RIGHTS says of a caller: 404 for what is not seen, 403 for what is seen without the right. */
function expected(name: string, { needs, success = 200 }: Operation, kind: Kind, isPublic: boolean): number {
  const route = ROUTES.find((one) => nameOf(one) === name);
  if (kind === "anonymous" && (route?.auth !== "open" || route.ownTokens !== undefined)) return 401;
  if (kind.endsWith("key") && route?.auth === "session") return 403;
  const role = kind === "key" ? KEY_ROLE : ROLES.find((one) => one === kind);
  const rights: readonly Action[] = role !== undefined ? RIGHTS[role] : isPublic ? ["see"] : [];
  if (rights.includes(needs)) return success;
  return rights.includes("see") ? 403 : 404;
}

/** Asks with the operation's own body, or with `sent`. */
async function ask(
  name: string,
  operation: Operation,
  kind: Kind,
  world: World,
  sent?: { body: string; type: string },
): Promise<number> {
  const [method = "", path = ""] = name.split(" ");
  const own = /\/[a-z-]+(?=\/\{id\})/.exec(path)?.[0] ?? "";
  const target = path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) =>
    String(parameter === "id" ? world[own] : world[parameter]),
  );
  const headers: Record<string, string> = sent === undefined ? {} : { "content-type": sent.type };
  const body = sent?.body ?? operation.body?.(world);
  const answer = await callers[kind].call(method, target + (operation.query?.(world) ?? ""), body, headers);
  return answer.status;
}

const operations = Object.entries(OPERATIONS);

describe("every role, and who has none, may do what RIGHTS says", () => {
  it("with everything that there is", () => {
    const things = ROUTES.filter(({ path }) => THINGS.test(path)).map(nameOf);
    expect(things.filter((name) => OPERATIONS[name] === undefined && !SAME_FOR_ALL.includes(name))).toEqual([]);
    const known = new Set(ROUTES.map(nameOf));
    expect(operations.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(operations)("%s", async (name, operation) => {
    await settle();
    for (const [visibility, kinds] of viewsOf(name)) {
      const shared = worlds[visibility];
      const answers: Partial<Record<Kind, number>> = {};
      const wanted: Partial<Record<Kind, number>> = {};
      for (const kind of kinds) {
        const status = expected(name, operation, kind, visibility === "public");
        const own = status === (operation.success ?? 200) ? await operation.fresh?.(shared, kind) : {};
        wanted[kind] = status;
        answers[kind] = await ask(name, operation, kind, { ...shared, ...own } as World);
      }
      expect(answers, visibility).toEqual(wanted);
    }
  });

  it("is told of each schedule whether it may change it", async () => {
    await settle();
    const told = await Promise.all(
      ROLES.map(async (role) => {
        const { body } = await callers[role].call("GET", "/api/v1/screening-schedules");
        return [role, new Set(body.items.map((item: { may_change: boolean }) => item.may_change))];
      }),
    );
    expect(told).toEqual(ROLES.map((role) => [role, new Set([RIGHTS[role].includes("run")])]));
  });

  it.each(operations.filter(([name]) => CHANGE.test(name)))("%s: others learn nothing of a body", async (name, one) => {
    await settle();
    for (const [visibility, kinds] of viewsOf(name)) {
      for (const kind of kinds) {
        const wanted = expected(name, one, kind, visibility === "public");
        const allowed = wanted === (one.success ?? 200);
        for (const { status, ...sent } of WRONG_BODIES) {
          const answer = await ask(name, one, kind, worlds[visibility], sent);
          expect([kind, sent.body, answer]).toEqual([kind, sent.body, allowed ? status : wanted]);
        }
      }
    }
  });
});
