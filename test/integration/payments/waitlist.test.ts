import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { DAILY } from "../../../functions/scheduled.ts";
import { renderLead } from "../../../shared/mail/render.ts";
import { type Answer, caller, newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import type { Settings } from "../../stack/settings.ts";
import { from, range, tally, used } from "../runs/support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OPERATORS = ["chief@example.test", "ops@example.test"];
const PRO = "/api/v1/billing/notify-me";
const ENTERPRISE = "/api/v1/billing/enterprise-waitlist";

let service: TestService;
/** Half past ten in the morning, another day for each test: nothing of a ceiling is used. */
let clock = Math.floor(Date.now() / DAY) * DAY + 10.5 * HOUR;
let places = 0;

beforeAll(async () => {
  const settings = { ADMIN_EMAILS: OPERATORS.join(","), FLAGS: "" };
  service = await startService({ settings, overrides: { now: () => new Date(clock) } });
});

beforeEach(async () => {
  await service.settled();
  clock += DAY;
  service.mailbox.clear();
});

afterAll(async () => {
  await service.settled();
  await service.stop();
});

const address = (): string => `${randomUUID()}@example.test`;
/** Joins a list; from a place of its own unless one is given. */
const join = (path: string, email: string, fields: object = {}, place = (places += 1)): Promise<Answer> =>
  caller(service).call("POST", path, { email, ...fields }, from(place));
const entriesOf = (...emails: string[]) =>
  service.sql(
    "select list, email, company, seats, message from waitlist_entries where lower(email) = any($1) order by list",
    [emails],
  );
/** Who was mailed since the test began, once for each mail. */
async function mailed(): Promise<string[]> {
  await service.settled();
  return service.mailbox.list().map(({ to }) => to);
}
/** What is used of this day's or hour's ceiling. */
async function spend(kind: string, amount: number): Promise<void> {
  const period = new Date(clock).toISOString().slice(0, kind === "lead_hour" ? 13 : 10);
  await service.sql("insert into allowances (kind, owner, period, used) values ($1, 'all', $2, $3)", [
    kind,
    period,
    amount,
  ]);
}

describe("the Pro waitlist", () => {
  it("queues an address once, in any case, and mails it once", async () => {
    const email = address();
    expect((await join(PRO, ` ${email.toUpperCase()} `)).text).toBe('{"queued":true}');
    for (const again of [email, email.toUpperCase()])
      expect((await join(PRO, again)).body).toEqual({ queued: false, reason: "already_queued" });
    expect(await entriesOf(email)).toEqual([{ list: "pro", email, company: null, seats: null, message: null }]);
    expect(await mailed()).toEqual([email]);
    expect(service.mailbox.list(email)[0]).toMatchObject({
      subject: "You are on the list",
      text: expect.stringContaining("waitlist for the Pro plan"),
    });
  });
});

describe("the Enterprise waitlist", () => {
  const WISH = { company: "Acme & Sons", seats: 40, message: "Call <us>.\nSoon." };

  it("answers a repeated request with the same bytes, and keeps the first", async () => {
    const email = address();
    const answers = [await join(ENTERPRISE, email, WISH), await join(ENTERPRISE, email.toUpperCase(), { seats: 1 })];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, '{"queued":true}']));
    const names = answers.map(({ headers }) => [...headers.keys()]);
    expect(names[0]).toEqual(names[1]);
    expect(await entriesOf(email)).toEqual([{ list: "enterprise", email, ...WISH }]);
    expect((await mailed()).toSorted()).toEqual([...OPERATORS, email].toSorted());
  });

  it("tells the operators what was wished, and the lead nothing that a stranger could have put there", async () => {
    const email = address();
    await join(ENTERPRISE, email, WISH);
    await mailed();
    for (const operator of OPERATORS) {
      const text = service.mailbox.list(operator)[0]?.text;
      for (const part of [email, WISH.company, "40", WISH.message]) expect(text).toContain(part);
    }
    const [own] = service.mailbox.list(email);
    expect(own?.text).toContain("waitlist for the Enterprise plan");
    for (const part of Object.values(WISH)) expect(own?.text).not.toContain(String(part));
  });

  it("is another list than that of Pro", async () => {
    const email = address();
    for (const path of [PRO, ENTERPRISE]) expect((await join(path, email)).body).toEqual({ queued: true });
    expect((await entriesOf(email)).map(({ list }) => list)).toEqual(["enterprise", "pro"]);
  });

  it("carries words of any kind into a mail without a way out of the text", () => {
    const hostile = `<img src="x" onerror='y'>&`;
    const { subject, text, html } = renderLead({
      email: "a@b.example",
      company: hostile,
      seats: null,
      message: hostile,
    });
    expect([subject.includes("<"), html.includes("<img"), text.split(hostile)]).toMatchObject([
      false,
      false,
      { length: 3 },
    ]);
  });
});

it.each([
  [PRO, 1],
  [ENTERPRISE, 1 + OPERATORS.length],
])("%s asked for one address by many at once keeps one entry and mails once", async (path, mails) => {
  const email = address();
  const answers = await Promise.all(range(8).map(() => join(path, email)));
  expect(answers.filter(({ body }) => body["queued"])).toHaveLength(path === PRO ? 1 : 8);
  expect(await entriesOf(email)).toHaveLength(1);
  expect(await mailed()).toHaveLength(mails);
  expect(new Set(await mailed()).size).toBe(mails);
});

it.each<[string, string, object, string]>([
  [PRO, "no address", { email: "nobody" }, "validation_failed"],
  [PRO, "a line break in the address", { email: "a@example.test\r\nBcc: b@example.test" }, "validation_failed"],
  [PRO, "another field", { company: "Acme" }, "unrecognized_field"],
  [ENTERPRISE, "no seats", { seats: 0 }, "validation_failed"],
  [ENTERPRISE, "half a seat", { seats: 1.5 }, "validation_failed"],
  [ENTERPRISE, "a blank company", { company: " " }, "validation_failed"],
  [ENTERPRISE, "a novel", { message: "x".repeat(4001) }, "validation_failed"],
  [ENTERPRISE, "a text that can't be stored", { message: "a\u0000b" }, "validation_failed"],
])("%s is 422 with %s, and nothing is kept", async (path, _what, fields, code) => {
  const email = address();
  const { status, body } = await join(path, email, fields);
  expect([status, body["code"]]).toEqual([422, code]);
  expect([await entriesOf(email), await mailed()]).toEqual([[], []]);
});

describe("the mails about leads", () => {
  it("are three a day for one source, whose further leads are kept; others are not held up", async () => {
    const [place, emails] = [(places += 1), range(6).map(address)];
    const answers = await Promise.all(emails.map((email) => join(PRO, email, {}, place)));
    expect(answers.map(({ text }) => text)).toEqual(emails.map(() => '{"queued":true}'));
    expect(await entriesOf(...emails)).toHaveLength(6);
    expect(await mailed()).toHaveLength(3);
    const another = address();
    await join(PRO, another);
    expect(await mailed()).toContain(another);
    clock += DAY;
    const next = address();
    await join(PRO, next, {}, place);
    expect(await mailed()).toContain(next);
  });

  it.each([
    ["lead_hour", 50, HOUR],
    ["lead_day", 200, DAY],
  ])(
    "keep to the ceiling of %s, %i in all, however many leads come at once, who are kept",
    async (kind, most, span) => {
      await spend(kind, most - 4);
      const emails = range(9).map(address);
      expect(tally(await Promise.all(emails.map((email) => join(PRO, email))))).toEqual({ 200: 9 });
      expect(await entriesOf(...emails)).toHaveLength(9);
      expect(await mailed()).toHaveLength(4);
      clock += span;
      const next = address();
      await join(PRO, next);
      expect(await mailed()).toContain(next);
    },
  );

  it("count each for itself, and go out all or none", async () => {
    await spend("lead_hour", 45);
    for (const _lead of range(2)) await join(ENTERPRISE, address());
    expect(await mailed(), "48, and no room for three more").toHaveLength(3);
    for (const _lead of range(3)) await join(PRO, address());
    expect(await mailed()).toHaveLength(5);
  });

  it("are counted by no repeated request, nor under an address that could be read", async () => {
    const [email, place] = [address(), (places += 1)];
    const before = await used(service, "lead_source");
    for (const _time of range(3)) await join(PRO, email, {}, place);
    expect(await used(service, "lead_source")).toBe(before + 1);
    const owners = await service.sql<{ owner: string }>("select owner from allowances where kind = 'lead_source'");
    for (const { owner } of owners) expect(owner).toMatch(/^[0-9a-f]{32}$/);
  });
});

it("both waitlists draw on the one bucket of writes of an address", async () => {
  const place = (places += 1);
  const left = async (path: string): Promise<number> => {
    const { headers } = await join(path, address(), {}, place);
    expect(headers.get("ratelimit-policy")).toBe('"minute";q=60;w=60');
    return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  expect([await left(PRO), await left(ENTERPRISE), await left(PRO)]).toEqual([59, 58, 57]);
});

describe("the billing status", () => {
  const DEPLOYED = {
    ENVIRONMENT: "production",
    FRONTEND_URL: "https://www.example.test",
    BASE_URL: "https://api.example.test",
    DNS_RESOLVER_URL: "https://dns.example.test/dns-query",
    NEON_LOCAL_PROXY: "",
    RESEND_API_BASE: "",
  };

  it.each([
    [{ FLAGS: "" }, { billing_enabled: false, payment_configured: false, dev_mode: true }],
    [{ FLAGS: "certify,billing" }, { billing_enabled: true, payment_configured: false, dev_mode: true }],
    [{ STRIPE_SECRET_KEY: "sk_test_1" }, { billing_enabled: false, payment_configured: true, dev_mode: false }],
    [DEPLOYED, { billing_enabled: false, payment_configured: false, dev_mode: false }],
    [
      { ...DEPLOYED, FLAGS: "billing", STRIPE_SECRET_KEY: "sk_live_1" },
      { billing_enabled: true, payment_configured: true, dev_mode: false },
    ],
  ])("with %j is %j", async (more, expected) => {
    const settings: Settings = { ...service.settings, ...more };
    const app = createApplication(settings, { log: () => undefined });
    const response = await app.fetch(new Request(`${settings["BASE_URL"]}/api/v1/billing/status`));
    expect([response.status, await response.json()]).toEqual([200, expected]);
  });
});

it("an account that is deleted leaves both lists, and nobody else does", async () => {
  const [leaving, staying] = [await newUser(service, { email: address() }), address()];
  for (const email of [leaving.email, staying]) for (const path of [PRO, ENTERPRISE]) await join(path, email);
  await service.sql("update users set deletion_scheduled_for = $2 where id = $1", [leaving.id, new Date(clock - HOUR)]);
  await service.app.scheduled(DAILY);
  expect((await entriesOf(leaving.email, staying)).map(({ email }) => email)).toEqual([staying, staying]);
});
