import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { renderInvitation } from "../../../shared/mail/render.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { type Answer, newUser, type User } from "../../stack/client.ts";
import { linkOf, tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, tally } from "../runs/support.ts";
import { addTeam, elsewhere, TEAMS } from "./teams-support.ts";

const ACCEPT = `${TEAMS}/invitations/accept`;
const DAY = 86_400_000;
const START = Date.now();

let service: TestService;
/** Whoever is needed, registered once; the first owns the workspaces. */
let people: User[];
let owner: User;
let guests: User[];
let team: string;
let clock = START;
let invitations = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  people = await Promise.all([newUser(service, { plan: "enterprise" }), ...range(4).map(() => newUser(service))]);
});

beforeEach(async () => {
  clock = START;
  await service.sql("delete from allowances where kind = 'invited_address'");
  [owner, ...guests] = elsewhere(people) as [User, ...User[]];
  team = await addTeam(service, owner);
});

afterAll(() => service.stop());

const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.["code"]];
const address = (): string => `${randomUUID()}@example.test`;
const invite = (email: string, fields: object = {}, by: User = owner) =>
  by.call("POST", `${TEAMS}/${team}/invitations`, { email, role: "editor", ...fields });
const revoke = (id: string, by: User = owner) => by.call("DELETE", `${TEAMS}/${team}/invitations/${id}`);
const accept = (by: User, token: string) => by.call("POST", ACCEPT, { token });
const teamsOf = async (user: User): Promise<number> => (await user.call("GET", "/api/v1/auth/me")).body.team_count;
const seats = async (): Promise<number> => (await owner.call("GET", `${TEAMS}/${team}`)).body.seats_used;
const changeRole = (member: User, role: string, by: User = owner) =>
  by.call("PATCH", `${TEAMS}/${team}/members/${member.id}`, { role });
const remove = (member: User, by: User) => by.call("DELETE", `${TEAMS}/${team}/members/${member.id}`);

/** Lets so much of the life of all invitations pass. */
const pass = (ms: number) =>
  service.sql("update team_invitations set expires_at = expires_at - $1 * interval '1 millisecond'", [ms]);
/** Ends the grace of these accounts, and lets the daily work be done. */
async function finalise(...who: User[]): Promise<void> {
  const ids = who.map(({ id }) => id);
  await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = any($1)", [ids]);
  await service.app.scheduled(DAILY);
}

/** The token in the newest mail to an address. */
async function tokenTo(email: string): Promise<string> {
  await service.settled();
  return tokenOf(service.mailbox.list(email)[0]);
}

/** An account that was invited, the next in turn, and its token. */
async function invited(role = "editor"): Promise<{ user: User; token: string; id: string }> {
  const user = guests[invitations++ % guests.length] as User;
  const { status, body, text } = await invite(user.email, { role });
  expect(status, text).toBe(201);
  return { user, token: await tokenTo(user.email), id: body.id };
}

/** An account that joined. */
async function joined(role = "editor"): Promise<User> {
  const { user, token } = await invited(role);
  expect((await accept(user, token)).status).toBe(200);
  return user;
}

describe("an invitation", () => {
  it("is mailed once, and its token is kept nowhere in the clear", async () => {
    const email = address();
    const answer = await invite(email.toUpperCase(), { role: "runner" });
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { email, role: "runner", status: "pending", invited_by: owner.id },
    ]);
    expect(answer.body.expires_at).toBe(new Date(START + 7 * DAY).toISOString());
    const token = await tokenTo(email);
    const [mail, ...more] = service.mailbox.list(email);
    expect(more).toEqual([]);
    expect(mail?.text).toContain(`${owner.email} invites you to the workspace “Team”, with the role runner.`);
    expect(linkOf(mail).pathname).toBe("/accept-invitation");
    const [row] = await service.sql("select * from team_invitations where id = $1", [answer.body.id]);
    expect(row).toMatchObject({ token_hash: sha256(token) });
    expect(JSON.stringify([row, answer.body, await service.sql("select * from idempotency_keys")])).not.toContain(
      token,
    );
  });

  it("makes the account with its address a member, once, and says so again to that member", async () => {
    const { user, token } = await invited();
    const before = { seats: await seats(), teams: await teamsOf(user) };
    const answers = await Promise.all(range(4).map(() => accept(user, token)));
    expect(tally(answers)).toEqual({ 200: 4 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ id: team, role: "editor", seats_used: 2, seats_limit: 5 });
    expect([before.seats, await seats()]).toEqual([2, 2]);
    const members = await user.call("GET", `${TEAMS}/${team}/members`);
    expect(members.body).toMatchObject({
      total: 2,
      items: [
        { user_id: owner.id, email: owner.email, username: null, role: "owner" },
        { user_id: user.id, email: user.email, username: null, role: "editor" },
      ],
    });
    expect(await teamsOf(user)).toBe(before.teams + 1);
    await changeRole(user, "viewer");
    expect((await accept(user, token)).body.role, "an old token gives no old role back").toBe("viewer");
  });

  it("has one and the same refusal for every token that does not hold", async () => {
    const { user, token } = await invited();
    const stranger = people[0] as User;
    const revoked = await invited();
    await revoke(revoked.id);
    const replaced = await invited();
    await invite(replaced.user.email);
    const former = await invited();
    await accept(former.user, former.token);
    await remove(former.user, owner);
    const refusals = [
      await accept(user, "unknown"),
      await accept(stranger, token),
      await accept(revoked.user, revoked.token),
      await accept(replaced.user, replaced.token),
      await accept(former.user, former.token),
    ];
    await pass(7 * DAY);
    refusals.push(await accept(user, token));
    const plain = refusals.map(({ status, text }) => [status, text.replace(/"request_id":"[^"]+"/, "")]);
    expect(plain).toEqual(plain.map(() => plain[0]));
    expect(codeOf(refusals[0] as Answer)).toEqual([400, "invalid_token"]);
    await pass(-1);
    expect((await accept(user, token)).status).toBe(200);
  });

  it("is 409 for the address of a member, in any case, and takes no seat", async () => {
    const user = await joined();
    expect(codeOf(await invite(user.email.toUpperCase()))).toEqual([409, "already_member"]);
    expect(await seats()).toBe(2);
  });

  it("to an address that has one takes its place: one seat, another role, and the new token alone", async () => {
    const { user, token, id } = await invited("viewer");
    const again = await invite(user.email, { role: "admin" });
    expect([again.status, again.body]).toMatchObject([201, { id, role: "admin" }]);
    expect(await seats()).toBe(2);
    const fresh = await tokenTo(user.email);
    expect(codeOf(await accept(user, token))).toEqual([400, "invalid_token"]);
    expect((await accept(user, fresh)).body.role).toBe("admin");
  });

  it("sent again under its Idempotency-Key gives the same answer and no second mail", async () => {
    const email = address();
    const headers = { "idempotency-key": randomUUID() };
    const post = () => owner.call("POST", `${TEAMS}/${team}/invitations`, { email, role: "member" }, headers);
    const [first, second] = [await post(), await post()];
    await service.settled();
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(service.mailbox.list(email)).toHaveLength(1);
  });

  it.each([
    ["an owner", { role: "owner" }, "validation_failed"],
    ["an unknown role", { role: "root" }, "validation_failed"],
    ["no address", { email: "nobody" }, "validation_failed"],
    ["another field", { user_id: randomUUID() }, "unrecognized_field"],
  ])("is 422 with %s", async (_what, fields, code) => {
    expect(codeOf(await invite(address(), fields))).toEqual([422, code]);
    expect(await seats()).toBe(1);
  });

  it("is listed with what became of it, newest first, for those who manage members", async () => {
    const made = [await invited(), await invited(), await invited()];
    clock = START + 1000;
    made.push(await invited());
    await accept(made[0]?.user as User, made[0]?.token ?? "");
    expect((await revoke(made[1]?.id ?? "")).status).toBe(204);
    expect((await revoke(made[1]?.id ?? "")).status, "again").toBe(204);
    expect(codeOf(await revoke(made[0]?.id ?? ""))).toEqual([409, "already_member"]);
    expect(codeOf(await revoke(randomUUID()))).toEqual([404, "not_found"]);
    await pass(7 * DAY);
    await service.sql("update team_invitations set expires_at = $1 where id = $2", [new Date(clock + 1), made[3]?.id]);
    const { body } = await owner.call("GET", `${TEAMS}/${team}/invitations?page_size=3`);
    const statuses = Object.fromEntries(
      body.items.map((item: { id: string; status: string }) => [item.id, item.status]),
    );
    expect([body.total, body.items[0].id]).toEqual([4, made[3]?.id]);
    const rest = await owner.call("GET", `${TEAMS}/${team}/invitations?page_size=3&page=2`);
    expect({ ...statuses, [rest.body.items[0].id]: rest.body.items[0].status }).toEqual({
      [made[0]?.id ?? ""]: "accepted",
      [made[1]?.id ?? ""]: "revoked",
      [made[2]?.id ?? ""]: "expired",
      [made[3]?.id ?? ""]: "pending",
    });
  });

  it("of another workspace is out of reach", async () => {
    const { id, token, user } = await invited();
    const other = await addTeam(service, owner);
    expect((await owner.call("DELETE", `${TEAMS}/${other}/invitations/${id}`)).status).toBe(404);
    expect((await accept(user, token)).status).toBe(200);
  });

  it("carries names of any kind without a way out of the text", () => {
    const hostile = `<b onclick="x('y')">&`;
    const mail = renderInvitation({ inviter: hostile, workspace: hostile, role: "viewer" }, "t", "https://app.example");
    expect(mail.html).not.toContain("<b onclick");
    expect(mail.text).toContain(hostile);
  });
});

it("an address is invited five times a day by all workspaces together, with an account or without", async () => {
  const [first, second] = [team, await addTeam(service, owner)];
  for (const email of [address(), guests[0]?.email ?? ""]) {
    await service.settled();
    service.mailbox.clear();
    const answers = [];
    for (const turn of range(6)) {
      team = turn % 2 === 0 ? first : second;
      const answer = await invite(email);
      answers.push(codeOf(answer));
      if (answer.status === 201) await revoke(answer.body.id);
      else expect(Number(answer.headers.get("retry-after"))).toBe(Math.ceil((DAY - (START % DAY)) / 1000));
    }
    expect(answers.map(([status]) => status)).toEqual([201, 201, 201, 201, 201, 429]);
    expect(answers[5]).toEqual([429, "rate_limited"]);
    await service.settled();
    expect(service.mailbox.list(email)).toHaveLength(5);
  }
  const crowded = address();
  const all = await Promise.all(range(8).map(() => invite(crowded)));
  expect(all.filter(({ status }) => status === 201)).toHaveLength(5);
});

describe("the five seats", () => {
  it("are held by members and open invitations alike, and are freed by what ends those", async () => {
    const asked = [await invited(), await invited(), await invited(), await invited()];
    const full = await invite(address());
    expect([...codeOf(full), full.body.limit, full.body.used]).toEqual([402, "quota_exceeded", 5, 5]);
    expect((await invite(asked[0]?.user.email ?? "")).status, "a renewal needs no seat").toBe(201);
    await revoke(asked[1]?.id ?? "");
    const { user } = asked[2] as { user: User };
    await accept(user, asked[2]?.token ?? "");
    expect(await seats()).toBe(4);
    expect((await remove(user, user)).status).toBe(204);
    expect(await seats()).toBe(3);
    await pass(7 * DAY);
    expect(await seats()).toBe(1);
    expect((await invite(asked[3]?.user.email ?? "")).status, "an expired one can be renewed").toBe(201);
    expect(await seats()).toBe(2);
  });

  it("are never exceeded by invitations, renewals and acceptances at once", async () => {
    const asked = [await invited(), await invited()];
    const strangers = range(6).map(address);
    const answers = await Promise.all([
      ...strangers.map((email) => invite(email)),
      ...asked.map(({ user, token }) => accept(user, token)),
      ...strangers.slice(0, 2).map((email) => invite(email)),
    ]);
    expect(tally(answers.slice(6, 8))).toEqual({ 200: 2 });
    expect(await seats()).toBe(5);
    const [row] = await service.sql<{ held: number }>(
      `select (select count(*) from team_members where team_id = $1)::int
        + (select count(*) from team_invitations where team_id = $1 and accepted_at is null)::int as held`,
      [team],
    );
    expect(row?.held).toBe(5);
  });

  it("are given back or taken, never both, when an invitation is accepted and revoked at once", async () => {
    for (const _round of range(5)) {
      const { user, token, id } = await invited();
      const [one, other] = await Promise.all([accept(user, token), revoke(id)]);
      expect([
        [200, 409],
        [400, 204],
      ]).toContainEqual([one.status, other.status]);
      expect(await seats()).toBe(one.status === 200 ? 2 : 1);
      if (one.status === 200) await remove(user, owner);
    }
  });
});

describe("a member", () => {
  it("gets another role from an admin, whom the owner's own is out of reach for", async () => {
    const [admin, member] = [await joined("admin"), await joined("viewer")];
    const answer = await changeRole(member, "admin", admin);
    expect([answer.status, answer.body]).toMatchObject([200, { user_id: member.id, role: "admin" }]);
    expect((await changeRole(admin, "runner", member)).body.role).toBe("runner");
    expect(codeOf(await changeRole(owner, "viewer", member))).toEqual([403, "forbidden"]);
    expect(codeOf(await remove(owner, member))).toEqual([403, "forbidden"]);
    expect(codeOf(await changeRole(member, "owner"))).toEqual([422, "validation_failed"]);
    const stranger = guests.find(({ id }) => id !== admin.id && id !== member.id) as User;
    expect(codeOf(await changeRole(stranger, "viewer"))).toEqual([404, "not_found"]);
    expect(codeOf(await remove(stranger, owner))).toEqual([404, "not_found"]);
  });

  it("may always leave, but the owner, who hands the workspace over first", async () => {
    const viewer = await joined("viewer");
    const before = await teamsOf(viewer);
    for (const answer of [await remove(owner, owner), await changeRole(owner, "admin")])
      expect(codeOf(answer)).toEqual([409, "workspace_ownership"]);
    expect((await remove(viewer, viewer)).status).toBe(204);
    expect((await viewer.call("GET", `${TEAMS}/${team}`)).status).toBe(404);
    expect((await remove(viewer, viewer)).status).toBe(404);
    expect(await teamsOf(viewer)).toBe(before - 1);
  });

  it("keeps no power over others once removed: of two admins who remove each other at once one stays", async () => {
    for (const _round of range(3)) {
      const [one, other] = [await joined("admin"), await joined("admin")];
      const answers = await Promise.all([remove(other, one), remove(one, other)]);
      expect(tally(answers)).toEqual({ 204: 1, 404: 1 });
      await Promise.all([one, other].map((user) => remove(user, owner)));
    }
  });
});

describe("the open invitations of an admin", () => {
  /** One that an admin has sent, and its token. */
  async function sentBy(admin: User): Promise<{ guest: User; token: string }> {
    const guest = await newUser(service);
    expect((await invite(guest.email, { role: "admin" }, admin)).status).toBe(201);
    return { guest, token: await tokenTo(guest.email) };
  }

  it.each<[string, (admin: User) => Promise<Answer>]>([
    ["is removed", (admin) => remove(admin, owner)],
    ["leaves", (admin) => remove(admin, admin)],
    ["may manage members no longer", (admin) => changeRole(admin, "editor")],
  ])("are revoked where that one %s, and no other's", async (_what, end) => {
    const admin = await joined("admin");
    const [{ guest, token }, other, kept] = [await sentBy(admin), await sentBy(admin), await sentBy(owner)];
    await invite(other.guest.email, { role: "viewer" });
    expect((await end(admin)).status).toBeLessThan(300);
    expect(codeOf(await accept(guest, token))).toEqual([400, "invalid_token"]);
    const renewed = await tokenTo(other.guest.email);
    expect((await accept(other.guest, renewed)).status, "the owner has sent it anew").toBe(200);
    expect((await accept(kept.guest, kept.token)).status).toBe(200);
    const { body } = await owner.call("GET", `${TEAMS}/${team}/invitations`);
    expect(body.items.find(({ email }: { email: string }) => email === guest.email).status).toBe("revoked");
  });

  it("stay where the role still allows them, or the change is refused", async () => {
    const [admin, editor] = [await joined("admin"), await joined("editor")];
    const { guest, token } = await sentBy(admin);
    expect((await changeRole(admin, "admin")).status).toBe(200);
    expect((await remove(admin, editor)).status).toBe(403);
    expect((await changeRole(admin, "viewer", editor)).status).toBe(403);
    expect((await accept(guest, token)).status).toBe(200);
  });
});

describe("a deleted account", () => {
  it("leaves no invitation to its address, and those that it sent without its name and revoked", async () => {
    guests = await Promise.all([newUser(service), newUser(service)]);
    const [admin, other] = [await joined("admin"), await newUser(service)];
    const { id } = (await invite(other.email, {}, admin)).body;
    const token = await tokenTo(other.email);
    const { user: guest } = await invited();
    await finalise(admin, guest);
    const { items } = (await owner.call("GET", `${TEAMS}/${team}/invitations`)).body;
    expect(items).toMatchObject([{ id, email: other.email, invited_by: null, status: "revoked" }]);
    expect(codeOf(await accept(other, token))).toEqual([400, "invalid_token"]);
    expect(await seats()).toBe(1);
  });

  it("does not leave a workspace behind that somebody joined meanwhile", async () => {
    const lone = await newUser(service, { plan: "team" });
    team = await addTeam(service, lone);
    const guest = guests[0] as User;
    await invite(guest.email, {}, lone);
    const token = await tokenTo(guest.email);
    const [answer] = await Promise.all([accept(guest, token), finalise(lone)]);
    const [row] = await service.sql<{ owners: number; members: number }>(
      `select count(*) filter (where role = 'owner')::int as owners, count(*)::int as members
       from team_members where team_id = $1`,
      [team],
    );
    expect(row).toEqual(answer.status === 200 ? { owners: 1, members: 2 } : { owners: 0, members: 0 });
  });
});
