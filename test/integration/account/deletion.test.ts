import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, range, tally } from "../runs/support.ts";

const DELETION = "/api/v1/users/me/deletion";
const START = Date.parse("2026-11-21T09:00:00.000Z");
const DUE = "2026-12-05T09:00:00.000Z";

let service: TestService;
let user: User;
let clock = START;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  clock = START;
  user = await newUser(service);
});

const request = (body: object, by = user) => by.call("POST", DELETION, body);
const pending = async (by = user) => (await by.call("GET", "/api/v1/auth/me")).body.deletion_scheduled_for;
const forgetPassword = () => service.sql("update users set password_hash = null where id = $1", [user.id]);

/** What a confirmation link would carry, kept as the service keeps it. */
async function mailToken(fields: { userId?: string; purpose?: string; email?: string; expires?: number } = {}) {
  const token = randomUUID();
  const { userId = user.id, purpose = "confirm_deletion", email = user.email, expires = START + 3_600_000 } = fields;
  await service.sql(
    "insert into email_tokens (token_hash, user_id, purpose, email, expires_at) values ($1, $2, $3, $4, $5)",
    [sha256(token), userId, purpose, email, new Date(expires)],
  );
  return token;
}

async function addWorkspace(owner: User, ...members: User[]): Promise<string> {
  const [team] = await service.sql<{ id: string }>(
    "insert into teams (name, owner_id) values ('Team', $1) returning id",
    [owner.id],
  );
  const id = team?.id ?? "";
  for (const member of [owner, ...members]) {
    const role = member === owner ? "owner" : "editor";
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [id, member.id, role]);
  }
  return id;
}

describe("the preview", () => {
  it("counts what goes, and shows nothing of it", async () => {
    await service.sql("update users set plan = 'team' where id = $1", [user.id]);
    const agent = await addAgent(user);
    await addAgent(user);
    await user.call("DELETE", `/api/v1/agents/${agent}`);
    await addAgent(await newUser(service));
    await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" });
    const team = await addWorkspace(user);
    // A workspace's keys go with it, whoever made them; those of somebody else's stay.
    const foreign = await addWorkspace(await newUser(service), user);
    await service.sql("update team_members set role = 'admin' where team_id = $1 and user_id = $2", [foreign, user.id]);
    for (const [index, id] of [team, team, foreign].entries()) {
      const made = await user.call("POST", `/api/v1/teams/${id}/api-keys`, { name: `k${index}`, scope: "read" });
      expect(made.status, made.text).toBe(201);
    }
    const [shared, leaving] = [await addAgent(user, { team_id: team }), await newUser(service)];
    // Whoever asked for them: the account, somebody who goes, nobody by name; and one that is taken back.
    await service.sql(
      `insert into runs (agent_id, task_id, user_id, team_id, scope, status, trigger, passed)
       select a, t.id, u, case when a = $2 then $5::uuid end, case when a = $2 then 'team' else 'personal' end, s, 'manual', true
       from (select id from tasks limit 1) t, unnest(array[$1, $2]::uuid[]) a, unnest(array[$3, $4, null]::uuid[]) u,
         unnest(array['completed', 'queued', 'cancelled']) s`,
      [agent, shared, user.id, leaving.id, team],
    );
    await addAgent(leaving);
    await service.sql(
      `insert into runs (agent_id, task_id, user_id, scope, status, trigger)
       select a.id, t.id, $1, 'personal', 'completed', 'manual' from agents a, (select id from tasks limit 1) t where a.user_id = $1`,
      [leaving.id],
    );
    await service.sql("delete from users where id = $1", [leaving.id]);
    await service.sql(
      "delete from runs where id in (select id from runs where agent_id = $1 and user_id is null limit 1)",
      [agent],
    );
    await service.sql(
      `insert into webhooks (user_id, team_id, url, event_types)
       select u, t, 'https://hooks.example/', '{run.completed}' from (values ($1::uuid, null::uuid), ($2, $3::uuid), ($2, null)) x(u, t)`,
      [user.id, (await newUser(service)).id, team],
    );
    const { status, body } = await user.call("GET", DELETION);
    expect([status, body]).toEqual([
      200,
      {
        agents: 3,
        runs: 17,
        api_keys: 3,
        webhook_subscriptions: 2,
        workspaces_owned: 1,
        purchases: 0,
        email_sha256: sha256(user.email),
        has_password: true,
        deletion_pending: false,
      },
    ]);
    await request({ password: PASSWORD });
    expect((await user.call("GET", DELETION)).body.deletion_pending).toBe(true);
  });
});

describe("asking for deletion", () => {
  it("starts 14 days of grace by the password, deletes nothing, and keeps its date", async () => {
    await addAgent(user);
    const answer = await request({ password: PASSWORD });
    expect([answer.status, answer.body]).toEqual([202, { deletion_pending: true, deletion_scheduled_for: DUE }]);
    clock = START + 60_000;
    expect((await request({ password: PASSWORD })).body.deletion_scheduled_for).toBe(DUE);
    expect(await pending()).toBe(DUE);
    expect((await user.call("GET", "/api/v1/agents")).body.total).toBe(1);
  });

  it.each([
    ["nothing", {}, 422, "validation_failed"],
    ["both factors", { password: PASSWORD, confirmation_token: "x" }, 422, "conflicting_parameters"],
    ["another field", { password: PASSWORD, now: true }, 422, "unrecognized_field"],
    ["a wrong password", { password: "wrong" }, 401, "invalid_credentials"],
    ["a token that is unknown", { confirmation_token: "unknown" }, 400, "invalid_token"],
  ])("is refused with %s", async (_what, body, status, code) => {
    const answer = await request(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await pending()).toBeNull();
  });

  it("takes a mailed token once, until it expires, from an account without a password", async () => {
    const token = await mailToken({ expires: START + 1000 });
    expect((await request({ confirmation_token: token })).body.code, "it has a password").toBe("invalid_token");
    await forgetPassword();
    const withPassword = await request({ password: PASSWORD });
    expect([withPassword.status, withPassword.body.code]).toEqual([403, "forbidden"]);
    clock = START + 999;
    expect((await request({ confirmation_token: token })).status).toBe(202);
    await user.call("DELETE", DELETION);
    expect((await request({ confirmation_token: token })).body.code).toBe("invalid_token");
    expect(await pending()).toBeNull();
  });

  it("takes no token that is late, of another purpose, address or account", async () => {
    await forgetPassword();
    const other = await newUser(service);
    for (const token of [
      await mailToken({ expires: START }),
      await mailToken({ purpose: "reset_password" }),
      await mailToken({ email: "before@example.test" }),
      await mailToken({ userId: other.id, email: other.email }),
    ]) {
      const answer = await request({ confirmation_token: token });
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_token"]);
    }
  });

  it("is refused while the account owns a workspace with other members, and spends no token", async () => {
    await forgetPassword();
    const [other, token] = [await newUser(service), await mailToken()];
    const team = await addWorkspace(user, other);
    const refused = await request({ confirmation_token: token });
    expect([refused.status, refused.body.code]).toEqual([409, "workspace_ownership"]);
    expect((await request({ password: PASSWORD }, other)).status, "a member may go").toBe(202);
    await service.sql("update teams set owner_id = $1 where id = $2", [other.id, team]);
    expect((await request({ confirmation_token: token })).status).toBe(202);
  });

  it("is accepted once of 20 uses of one token at once", async () => {
    await forgetPassword();
    const token = await mailToken();
    const answers = await Promise.all(range(20).map(() => request({ confirmation_token: token })));
    expect(tally(answers)).toEqual({ 202: 1, 400: 19 });
    expect(await pending()).toBe(DUE);
  });
});

describe("taking a deletion back", () => {
  it("restores the account without a second factor, and changes nothing without a deletion", async () => {
    await request({ password: PASSWORD });
    for (const _time of range(2)) {
      const answer = await user.call("DELETE", DELETION);
      expect([answer.status, answer.body]).toEqual([200, { deletion_pending: false, deletion_scheduled_for: null }]);
    }
    clock = Date.parse(DUE);
    await service.app.scheduled("17 3 * * *");
    const credentials = { email: user.email, password: PASSWORD };
    const answer = await caller(service).call("POST", "/api/v1/auth/login", credentials);
    expect([answer.status, answer.body.user.id]).toEqual([200, user.id]);
  });

  it("is open until the account is deleted, to a sign-in in the grace window too", async () => {
    await request({ password: PASSWORD });
    clock = Date.parse(DUE) - 1;
    await service.app.scheduled("17 3 * * *");
    const credentials = { email: user.email, password: PASSWORD };
    const answer = await caller(service).call("POST", "/api/v1/auth/login", credentials);
    expect([answer.status, answer.body.user.deletion_scheduled_for]).toEqual([200, DUE]);
    const again = caller(service, { authorization: `Bearer ${answer.body.access_token}` });
    expect((await again.call("DELETE", DELETION)).status).toBe(200);
  });

  it("ends in one of both states when 20 restores and requests come at once", async () => {
    const answers = await Promise.all(
      range(20).map((n) => (n % 5 === 0 ? request({ password: PASSWORD }) : user.call("DELETE", DELETION))),
    );
    expect(tally(answers)).toEqual({ 200: 16, 202: 4 });
    expect([null, DUE]).toContain(await pending());
    await user.call("DELETE", DELETION);
    expect(await pending()).toBeNull();
  });
});
