import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { linkOf, type Mail, tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { remindOfEnds } from "../../../shared/certification/remind.ts";
import { addEnded, goOn } from "../payments/certify-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addSchedule, addTeam } from "../runs/schedules-support.ts";
import { addAgent, addRun, addSuite, deliver, from, range, type TestSuite, unique } from "../runs/support.ts";

const PATH = "/api/v1/users/me/notifications";
const DAY = 86_400_000;
const START = Date.parse("2027-03-25T08:55:00.000Z");

let service: TestService;
let suite: TestSuite;
let user: User;
let clock = START;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  suite = await addSuite(service, 2);
});

afterAll(() => service.stop());

beforeEach(async () => {
  clock = START;
  user = await newUser(service, { plan: "team", verified: true });
  await service.settled();
  service.mailbox.clear();
});

/** What came for an address since the test began, the first mail first. */
async function mails(to = user.email): Promise<Mail[]> {
  await service.settled();
  return service.mailbox.list(to).toReversed();
}

const subjects = async (to?: string): Promise<string[]> => (await mails(to)).map(({ subject }) => subject);
const set = (switches: object) => user.call("PATCH", PATH, switches);

/** The page that a mail leads to. */
const page = (mail: Mail | undefined): string => linkOf(mail).pathname;

describe("the switches", () => {
  it("are all on at first, and each is changed alone, also side by side", async () => {
    const { status, body } = await user.call<Record<string, boolean>>("GET", PATH);
    expect([status, new Set(Object.values(body))]).toEqual([200, new Set([true])]);
    const off = ["regression", "allowance", "invitation", "turned_off"];
    await Promise.all(off.map((kind) => set({ [kind]: false })));
    const all = Object.fromEntries(Object.keys(body).map((kind) => [kind, !off.includes(kind)]));
    expect((await user.call("GET", PATH)).body).toEqual(all);
    expect((await set({ regression: true, sign_in: true })).body).toEqual({ ...all, regression: true });
  });

  it.each(["sign_in", "password", "email_change", "deletion"])("leave %s on, and say so", async (kind) => {
    const { status, body } = await set({ [kind]: false, allowance: false });
    expect([status, body.errors]).toMatchObject([422, [{ pointer: `/${kind}`, code: "always_on" }]]);
    expect((await user.call("GET", PATH)).body.allowance).toBe(true);
    const { paths } = (await caller(service).call("GET", "/openapi.json")).body;
    expect(paths[PATH].patch.description).toContain(`\`${kind}\``);
  });
});

describe("a sign-in", () => {
  const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
  const UPDATED = FIREFOX.replaceAll("130", "144");
  const signIn = (address: string, agent: string) =>
    caller(service, { "cf-connecting-ip": address, "user-agent": agent })
      .call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD })
      .then(({ status }) => expect(status).toBe(200));

  it("is told where both network and browser are new, once however many come at once", async () => {
    await signIn("203.0.113.7", FIREFOX);
    expect(await subjects()).toEqual(["A new sign-in to your account"]);
    const [mail] = await mails();
    expect(mail?.text).toContain(FIREFOX);
    expect(page(mail)).toBe("/settings/sessions");
    await signIn("203.0.113.200", "another in the same /24");
    await signIn("2001:db8:1:2::1", UPDATED);
    await signIn("2001:db8:1:ffff::9", "yet another, in the same /48");
    expect(await mails()).toHaveLength(1);
    await Promise.all(range(4).map(() => signIn("2001:db8:2::1", "curl")));
    expect(await mails()).toHaveLength(2);
    const marks = await service.sql<{ mark: string }>("select mark from sign_in_marks where user_id = $1", [user.id]);
    expect(marks.map(({ mark }) => mark).filter((mark) => !/^[0-9a-f]{72}$/.test(mark))).toEqual([]);
  });
});

describe("what happens to the account", () => {
  it("is told: a password that was changed, or reset", async () => {
    const new_password = "another horse, another battery";
    await user.call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password });
    await user.call("PATCH", "/api/v1/auth/me", { username: unique("name") });
    expect(await subjects()).toEqual(["Your password was changed"]);
    await user.call("POST", "/api/v1/auth/forgot-password", { email: user.email });
    const token = tokenOf((await mails()).at(-1));
    await user.call("POST", "/api/v1/auth/reset-password", { token, new_password: PASSWORD });
    expect((await subjects()).slice(2)).toEqual(["Your password was changed"]);
    expect(page((await mails())[0])).toBe("/forgot-password");
  });

  it("is told: its deletion, once however often it is asked for", async () => {
    const ask = () => user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
    await Promise.all([ask(), ask()]);
    await ask();
    expect(await subjects()).toEqual(["Your account will be deleted"]);
    const [mail] = await mails();
    expect(mail?.text).toContain("2027-04-08");
    expect(page(mail)).toBe("/settings/deletion");
  });

  it("is told: an invitation, unless the invited account switched that off", async () => {
    const host = await newUser(service, { plan: "team", verified: true });
    const team = await addTeam(service, host);
    const invite = () => host.call("POST", `/api/v1/teams/${team}/invitations`, { email: user.email, role: "viewer" });
    await set({ invitation: false });
    expect((await invite()).status).toBe(201);
    expect(await mails()).toEqual([]);
    await set({ invitation: true });
    await invite();
    const [mail] = await mails();
    expect(page(mail)).toBe("/accept-invitation");
    expect(mail?.text).toContain("/settings/notifications");
  });

  it("is told: an invitation to an address that somebody registered and never verified, whatever they switched off", async () => {
    const squatter = await newUser(service, { verified: false });
    await squatter.call("PATCH", PATH, { invitation: false });
    await service.settled();
    service.mailbox.clear();
    const host = await newUser(service, { plan: "team", verified: true });
    const path = `/api/v1/teams/${await addTeam(service, host)}/invitations`;
    expect((await host.call("POST", path, { email: squatter.email, role: "viewer" })).status).toBe(201);
    expect((await mails(squatter.email)).map(page)).toEqual(["/accept-invitation"]);
  });
});

describe("the month's runs", () => {
  const used = (kind: string, owner: string, count: number) =>
    service.sql("insert into allowances (kind, owner, period, used) values ($1, $2, '2027-03', $3)", [
      kind,
      owner,
      count,
    ]);
  const run = (agent: string) => addRun(user, agent, suite.tasks[0] ?? "");

  it("are told at 80% and at 100%, each once a month, however many runs are started at once", async () => {
    const agent = await addAgent(user);
    await used("user", user.id, 3997);
    await Promise.all(range(4).map(() => run(agent)));
    expect(await subjects()).toEqual(["80% of this month's runs are used"]);
    // Runs that were cancelled give back what they took: it is not told again when that is used once more.
    await service.sql("update allowances set used = 3999 where owner = $1", [user.id]);
    await run(agent);
    expect(await mails()).toHaveLength(1);
    await service.sql("update allowances set used = 4999 where owner = $1", [user.id]);
    await run(agent);
    const [, last] = await mails();
    expect(last?.text).toContain("5000 of 5000 runs of this month are used.");
    expect(page(last)).toBe("/billing");
  });

  it("are told again once a larger plan has more of them, and those are used too", async () => {
    const agent = await addAgent(user);
    await used("user", user.id, 4999);
    await run(agent);
    await service.sql("update users set plan = 'enterprise' where id = $1", [user.id]);
    for (const count of [39_999, 49_999]) {
      await service.sql("update allowances set used = $2 where owner = $1", [user.id, count]);
      await run(agent);
    }
    expect((await mails()).map(({ text }) => /\d+ of \d+ runs/.exec(text)?.[0])).toEqual([
      "5000 of 5000 runs",
      "40000 of 50000 runs",
      "50000 of 50000 runs",
    ]);
  });

  it("of a workspace are told to its owner, unless that is switched off", async () => {
    const team = await addTeam(service, user);
    const agent = await addAgent(user, { team_id: team });
    await used("team", team, 4999);
    await run(agent);
    expect((await mails())[0]?.text).toMatch(/5000 of 5000 runs of this month in the workspace “Team/);
    await set({ allowance: false });
    await used("user", user.id, 4999);
    await run(await addAgent(user));
    expect(await mails()).toHaveLength(1);
  });
});

describe("an agent's owner", () => {
  it("is told that a schedule was turned off, and why", async () => {
    const agent = await addAgent(user, { name: unique("Scheduled") });
    await addSchedule(user, agent, { suite_id: suite.id });
    await service.sql("update agents set is_active = false where id = $1", [agent]);
    clock = START + 5 * 60_000;
    await service.app.scheduled(EVERY_MINUTE);
    expect(await subjects()).toEqual(["Your schedule was turned off"]);
    const [mail] = await mails();
    expect(mail?.text).toContain("Scheduled");
    expect(page(mail)).toBe("/settings/schedules");
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "the rest of the month's runs does not suffice",
      () =>
        service.sql("insert into allowances (kind, owner, period, used) values ('user', $1, '2027-03', 4999)", [
          user.id,
        ]),
      /4999 are used, and this takes 2\./,
    ],
    [
      "its suite has become empty",
      () => service.sql("update tasks set is_active = false where suite_id = $1", [suite.id]),
      /no active task/,
    ],
  ])("is told once a month that a schedule starts nothing, since %s", async (_what, hinder, reason) => {
    const agent = await addAgent(user, { name: unique("Waiting") });
    await addSchedule(user, agent, { suite_id: suite.id });
    await hinder();
    const heard: string[][] = [];
    for (const day of [0, 1, 2, 7]) {
      if (day === 7)
        await service.sql("update allowances set used = 4999, period = '2027-04' where owner = $1", [user.id]);
      clock = START + day * DAY + 5 * 60_000;
      await Promise.all(range(2).map(() => service.app.scheduled(EVERY_MINUTE)));
      heard.push(await subjects());
    }
    const [mail] = await mails();
    await service.sql("update tasks set is_active = true where suite_id = $1", [suite.id]);
    const told = "A scheduled screening was not started";
    expect(heard).toEqual([[told], [told], [told], [told, told]]);
    expect(mail?.text).toMatch(reason);
    expect(mail?.text).toContain("Waiting");
    expect(page(mail)).toBe("/settings/schedules");
  });

  it.each([
    ["is not told of it again where a mail has said", true, "All of this month's runs are used"],
    ["is told of it all the same where no mail was wanted to say", false, "A scheduled screening was not started"],
  ])("%s that all of the month's runs are used", async (_what, allowance, told) => {
    await user.call("PATCH", "/api/v1/users/me/notifications", { allowance });
    const agent = await addAgent(user);
    await addSchedule(user, agent, { suite_id: suite.id });
    await service.sql("insert into allowances (kind, owner, period, used) values ('user', $1, '2027-03', 4999)", [
      user.id,
    ]);
    await addRun(user, agent, suite.tasks[0] ?? "");
    clock = START + 5 * 60_000;
    await service.app.scheduled(EVERY_MINUTE);
    expect(await subjects()).toEqual([told]);
  });

  it("of a workspace that the plan does not include any more is told that its schedules start nothing", async () => {
    const team = await addTeam(service, user);
    await addSchedule(user, await addAgent(user, { team_id: team }), { suite_id: suite.id });
    await service.sql("update users set plan = 'pro' where id = $1", [user.id]);
    clock = START + 5 * 60_000;
    await service.app.scheduled(EVERY_MINUTE);
    expect(await subjects()).toEqual(["A scheduled screening was not started"]);
    expect((await mails())[0]?.text).toContain("does not include this workspace");
  });

  it.each([
    ["was removed from the workspace", "delete from team_members where user_id = $1", true],
    ["may no longer screen there", "update team_members set role = 'viewer' where user_id = $1", false],
  ])(
    "is told that a schedule was turned off whose maker %s and may not see it any more",
    async (_what, change, told) => {
      const maker = await newUser(service, { verified: true });
      const team = await addTeam(service, user, { runner: maker });
      const agent = await addAgent(user, { team_id: team, is_public: false });
      await addSchedule(maker, agent, { suite_id: suite.id });
      await service.sql(change, [maker.id]);
      await service.settled();
      service.mailbox.clear();
      clock = START + 5 * 60_000;
      await service.app.scheduled(EVERY_MINUTE);
      const off = ["Your schedule was turned off"];
      expect([await subjects(), await subjects(maker.email)]).toEqual(told ? [off, []] : [[], off]);
    },
  );

  it.each([
    [5, "Your agent is certified"],
    [1, "Your agent was not certified"],
  ])("is told the result of a certification of which %i of 5 runs passed, once", async (passed, subject) => {
    const agent = await addAgent(user, { endpoint: "http://127.0.0.1:9/" });
    const id = await addEnded(service, { agent, owner: user, scored: suite.tasks, made: [{ passed }] });
    await Promise.all(range(3).map(() => goOn(service, id)));
    expect(await subjects()).toEqual([subject]);
    const [mail] = await mails();
    expect(mail?.text).toContain("Its score is ");
    expect(page(mail)).toBe(`/agents/${agent}`);
  });

  it("is told 14 and 3 days before a certification ends, but for one that another follows", async () => {
    const agent = await addAgent(user, { name: unique("Certified") });
    const certify = (days: number) =>
      service.sql(
        `insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at, issued_at, expires_at)
         values ($1, $2, 'certified', 39, now(), now(), $3)`,
        [agent, user.id, new Date(START + days * DAY).toISOString()],
      );
    // The day's message may come twice, also side by side.
    const remind = async () => {
      const ctx = contextOf(service, () => new Date(clock));
      await Promise.all(range(2).map(() => remindOfEnds(ctx, null)));
      await service.sql("update outbox set due_at = now()");
      await service.app.scheduled(EVERY_MINUTE);
    };
    await certify(15);
    const told: number[] = [];
    for (const day of [0, 1.1, 2, 12.1, 13]) {
      clock = START + day * DAY;
      await remind();
      told.push((await mails()).length);
    }
    expect(told).toEqual([0, 1, 1, 2, 2]);
    const [mail] = await mails();
    expect(mail?.text).toContain("It ends on 2027-04-09.");
    clock = START;
    // Nobody is sent to buy what is refused while it is in force.
    const { body } = await user.call("GET", `/api/v1/certify/eligibility?agent_id=${agent}`);
    expect([body.reasons, mail?.text]).toEqual([
      expect.arrayContaining(["already_certified"]),
      expect.stringContaining("once it has ended"),
    ]);
    clock = START + 20 * DAY;
    await remind();
    expect(await mails()).toHaveLength(2);
    clock = START;
    await service.sql("delete from certifications");
    await certify(2);
    await certify(90);
    await remind();
    expect(await mails()).toHaveLength(2);
    await service.sql("delete from certifications where expires_at > $1", [new Date(START + 3 * DAY).toISOString()]);
    await service.app.scheduled(DAILY);
    expect(await mails()).toHaveLength(3);
    // An agent that was deleted can't be certified again, and that of a workspace that is gone has no page.
    await service.sql("delete from certifications");
    await certify(2);
    expect((await user.call("DELETE", `/api/v1/agents/${agent}`)).status).toBe(204);
    await remind();
    expect(await mails()).toHaveLength(3);
    await service.sql("update agents set is_active = true where id = $1", [agent]);
    await remind();
    expect(await mails()).toHaveLength(4);
  });

  it("is told that it got worse, once, with no webhook that listens", async () => {
    const agent = await addAgent(user, { name: unique("Worse") });
    const session = async (at: string, passed: number) => {
      const [row] = await service.sql<{ id: string }>(
        `insert into screening_sessions (agent_id, user_id, suite_id, trigger, task_plan, repeats, finished_at)
         values ($1, $2, $3, 'manual', $4, 1, $5) returning id`,
        [agent, user.id, suite.id, JSON.stringify([{ task_id: suite.tasks[0], suite_version: 1, position: 1 }]), at],
      );
      await service.sql(
        `insert into runs (agent_id, task_id, screening_session_id, trigger, scope, status, passed)
         select $1, $2, $3, 'manual', 'personal', 'completed', n <= $4 from generate_series(1, 20) n`,
        [agent, suite.tasks[0], row?.id, passed],
      );
      return row?.id ?? "";
    };
    await session("2027-03-01", 20);
    const body = { screening_session_id: await session("2027-03-02", 5) };
    expect(await Promise.all(range(3).map(() => deliver(service, "regression", body)))).toEqual([200, 200, 200]);
    expect(await subjects()).toEqual(["Your agent got worse"]);
    const [mail] = await mails();
    expect(mail?.text).toContain("25% of its runs passed, 100% before.");
    expect(page(mail)).toBe(`/sessions/${body.screening_session_id}`);
  });
});

describe("the page of the switches", () => {
  it("shows them, and saves them as they are ticked, however often it is sent", async () => {
    const visitor = caller(service, { cookie: `service_session=${user.token}`, ...from(901) });
    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const boxes = (text: string): string[] =>
      [...text.matchAll(/<input[^>]*\bname="(\w+)"[^>]*>/g)]
        .filter(([box]) => / checked/.test(box))
        .map(([, name = ""]) => name);
    const shown = await visitor.call("GET", "/settings/notifications");
    expect([shown.status, boxes(shown.text).length]).toEqual([200, 7]);
    for (const _time of range(2)) {
      const saved = await visitor.call("POST", "/settings/notifications", "regression=true&allowance=true", form);
      expect([saved.status, boxes(saved.text).toSorted()]).toEqual([200, ["allowance", "regression"]]);
    }
  });
});
