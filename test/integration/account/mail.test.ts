import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { TEMPLATES } from "../../../shared/mail/message.ts";
import { render } from "../../../shared/mail/render.ts";
import { newUser, PASSWORD } from "../../stack/client.ts";
import { RESEND } from "../../stack/limits.ts";
import { linkOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const FRONTEND = "https://app.example.test";

let service: TestService;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  const overrides = { now: () => new Date(Date.now() + ahead) };
  service = await startService({ settings: { FRONTEND_URL: `${FRONTEND}/` }, overrides });
});

afterAll(() => service.stop());

/** Lets time pass for a service, the queue and what is owed, hour by hour. */
async function pass(hours: number, at = service): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    ahead += 60 * MINUTE;
    await at.sql("update outbox set due_at = due_at - interval '1 hour', created_at = created_at - interval '1 hour'");
    await at.broker.advance(60 * MINUTE);
    await at.app.scheduled(EVERY_MINUTE);
    await at.settled();
  }
}

/** Registers with these answers of the mail service, then lets hours pass; tells what it was asked, and what came. */
async function afterFailures(...statuses: number[]) {
  const seen = service.resend.keys.length;
  service.resend.failNext(...statuses);
  const user = await newUser(service);
  await service.settled();
  await pass(3);
  ahead = 0;
  return { user, keys: service.resend.keys.slice(seen), mails: service.mailbox.list(user.email) };
}

describe("a mail", () => {
  it.each([[[500]], [[503, 429]], [[429, 409, 502]], [[401, 403]]])(
    "is tried again after %j with the same idempotency key, and comes once",
    async (statuses) => {
      const { keys, mails } = await afterFailures(...statuses);
      expect(keys).toHaveLength(statuses.length + 1);
      expect(new Set(keys).size).toBe(1);
      expect(mails).toHaveLength(1);
    },
  );

  it.each([400, 422])(
    "that is refused by %i is not tried again, and the log does not tell whose it was",
    async (status) => {
      const { user, keys, mails } = await afterFailures(status);
      expect(keys).toHaveLength(1);
      expect(mails).toEqual([]);
      const failed = service.logs.filter((line) => line.includes("delivery failed")).at(-1) ?? "";
      expect(failed).toContain(`Resend refused the mail verify_email with ${status}`);
      expect(service.logs.some((line) => line.includes("message died") && line.includes('"mail"'))).toBe(true);
      expect(service.logs.join()).not.toContain(user.email);
    },
  );

  it("that others come before in the second it was to wait for is sent in one of the next", async () => {
    service.resend.failNext(429, 429, 429);
    const { email } = await newUser(service);
    await service.settled();
    expect(service.mailbox.list(email)).toHaveLength(1);
  });

  it("comes once when the queue delivers it twice", async () => {
    service.broker.setChaos({ duplicate: true });
    const { keys, mails } = await afterFailures();
    service.broker.setChaos({ duplicate: false });
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    expect(mails).toHaveLength(1);
  });

  it("is tried anew after three more tries, which the log tells", async () => {
    const { keys, mails } = await afterFailures(...Array<number>(4).fill(500));
    expect(keys).toHaveLength(5);
    expect(new Set(keys).size).toBe(1);
    expect(mails).toHaveLength(1);
    expect(service.logs.some((line) => line.includes("message died") && line.includes('"mail"'))).toBe(true);
  });

  it.each([
    [26, [1, 0]],
    [84, [0, 0]],
  ])("that the mail service was away for during %i hours comes at most once, while it is news", async (hours, come) => {
    const [told, forgetful] = await Promise.all([newUser(service), newUser(service)]);
    await service.settled();
    service.mailbox.clear();
    service.faults.set({ service: "mail", mode: "down" });
    try {
      await told.call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: `${PASSWORD}!` });
      await forgetful.call("POST", "/api/v1/auth/forgot-password", { email: forgetful.email });
      await pass(hours);
      service.faults.set({ service: "mail", mode: "none" });
      await pass(12);
      expect([told, forgetful].map(({ email }) => service.mailbox.list(email).length)).toEqual(come);
      expect(service.broker.stats().pending).toBe(0);
    } finally {
      service.faults.set({ service: "mail", mode: "none" });
      ahead = 0;
    }
  });

  it.each([
    ["reset_password", 50, 1],
    ["reset_password", 61, 0],
    ["verify_email", 24 * 60 - 10, 1],
    ["verify_email", 24 * 60 + 1, 0],
  ])("with the link of %s that is sent after all %i minutes later comes %i times", async (template, minutes, comes) => {
    const { email, call } = await newUser(service);
    await service.settled();
    service.mailbox.clear();
    service.resend.failNext(500);
    await (template === "reset_password"
      ? call("POST", "/api/v1/auth/forgot-password", { email })
      : call("POST", "/api/v1/auth/resend-verification"));
    await service.settled();
    service.logs.length = 0;
    ahead = minutes * MINUTE;
    await service.broker.advance(DAY);
    ahead = 0;
    expect(service.mailbox.list(email)).toHaveLength(comes);
    const late = service.logs.filter((line) => line.includes("too late"));
    expect(late.map((line) => JSON.parse(line).template)).toEqual(comes === 0 ? [template] : []);
  });

  it("with a link that somebody waits for does not stand in one line with what is only told", async () => {
    const { email, call } = await newUser(service);
    await service.settled();
    service.faults.set({ service: "qstash", mode: "down" });
    await call("POST", "/api/v1/auth/forgot-password", { email });
    await call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: `${PASSWORD}!` });
    const lines = await service.sql<{ template: string; line: string | null }>(
      "select body ->> 'template' as template, flow_key as line from outbox where consumer = 'mail' order by id",
    );
    service.faults.set({ service: "qstash", mode: "none" });
    expect(lines.map(({ line }) => line)).toEqual([null, "notices"]);
  });

  it("is never dropped in silence where there is no API key", async () => {
    const keyless = await startService({ settings: { RESEND_API_KEY: "" } });
    const user = await newUser(keyless);
    await keyless.settled();
    await keyless.broker.advance(DAY);
    expect(keyless.logs.some((line) => line.includes("RESEND_API_KEY is not set"))).toBe(true);
    expect(keyless.logs.some((line) => line.includes("message died"))).toBe(true);
    expect([keyless.resend.keys, keyless.mailbox.list(user.email)]).toEqual([[], []]);
    await keyless.stop();
  });

  it.each(["re_of_another_team", "no key at all"])("is tried again while the API key is %j", async (RESEND_API_KEY) => {
    const locked = await startService({ settings: { RESEND_API_KEY } });
    await newUser(locked);
    await locked.settled();
    await pass(2, locked);
    ahead = 0;
    expect(locked.resend.keys.length).toBeGreaterThan(4);
    await locked.stop();
  });

  it("waits for its turn, where more go out at once than the mail service takes", async () => {
    const bound = await startService({ mailsPerSecond: RESEND.requestsPerSecond });
    const users = await Promise.all(Array.from({ length: 12 }, () => newUser(bound)));
    await bound.settled();
    expect(users.map(({ email }) => bound.mailbox.list(email).length)).toEqual(users.map(() => 1));
    expect(bound.broker.stats()).toMatchObject({ pending: 0, retried: 0, dead: 0 });
    await bound.stop();
  });
});

describe("the text of a mail", () => {
  it.each(
    TEMPLATES.map((template) => [
      template,
      `/${template.replace("verify_email", "verify-email").replaceAll("_", "-")}`,
    ]),
  )("%s leads to %s of the frontend, wherever that is", (template, path) => {
    for (const frontend of [FRONTEND, `${FRONTEND}/`, `${FRONTEND}/base/`]) {
      const mail = render(template, { username: null }, "t0ken", frontend);
      const link = linkOf({ to: "", created_at: "", ...mail });
      expect(link.href).toBe(`${frontend.replace(/\/$/, "")}${path}?token=t0ken`);
    }
  });

  it("carries a name of any kind without a way out of the text", () => {
    const plain = render("verify_email", { username: "" }, "t", FRONTEND);
    const marks = (html: string): string => html.replaceAll(/[^<>"]/g, "");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "/", "=", " ", "a") }), (username) => {
        const mail = render("verify_email", { username }, "t", FRONTEND);
        expect(marks(mail.html)).toBe(marks(plain.html));
        expect(mail.text).toContain(`Hello ${username},`);
      }),
    );
  });

  it("greets by the name that the account has", () => {
    const named = render("reset_password", { username: "ada" }, "t", FRONTEND);
    const unnamed = render("reset_password", { username: null }, "t", FRONTEND);
    expect([named.text, unnamed.text].map((text) => text.split("\n")[0])).toEqual(["Hello ada,", "Hello,"]);
  });
});
