import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeAt, stepAt } from "../../../shared/identity/second-factor/totp.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { linkOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The page that the newest mail to an address opens. */
async function mailedTo(email: string, visitor: Visitor): Promise<Page> {
  await service.settled();
  const mail = service.mailbox.list(email).find((one) => one.text.includes("token="));
  if (mail === undefined) throw new Error(`no link to ${email}`);
  const { pathname, search } = linkOf(mail);
  return visitor.open(pathname + search);
}

/** What the person sees who sends a form twice at once, and after that once more. */
async function thrice(visitor: Visitor, form: Page, button: string, typed: Record<string, string> = {}) {
  const pages = await Promise.all([visitor, visitor.beside()].map((one) => one.send(form, button, typed)));
  pages.push(await visitor.send(form, button, typed));
  return pages.map(({ status, heading, url, alerts }) => ({ status, heading, path: url.pathname, alerts }));
}

describe("a form that is sent twice", () => {
  it("says of the password that it is changed", async () => {
    const visitor = await visitorOf(service, await newUser(service));
    const typed = { current_password: PASSWORD, new_password: "a better password" };
    const form = await visitor.open("/settings/password");
    for (const { status, alerts } of await thrice(visitor, form, "Change the password", typed))
      expect([status, alerts]).toEqual([200, [expect.stringContaining("The password is changed")]]);
  });

  it("says of a first password that there is one", async () => {
    const visitor = newVisitor(service);
    await visitor.follow(await visitor.open("/sign-in"), "Continue with GitHub");
    const form = await visitor.open("/settings/password");
    for (const { status, alerts } of await thrice(visitor, form, "Set the password", {
      new_password: "a good password",
    }))
      expect([status, alerts]).toEqual([200, [expect.stringMatching(/is set, and every other|has a password by now/)]]);
  });

  it.each(["", "/settings"])("goes on where a sign-in's second step is over, to %j", async (next) => {
    const user = await newUser(service);
    const { secret } = (await user.call("POST", "/api/v1/users/me/totp")).body;
    const code = (steps: number) => codeAt(`${secret}`, stepAt(new Date()) + steps);
    expect((await user.call("POST", "/api/v1/users/me/totp/confirm", { code: code(-1) })).status).toBe(200);
    const visitor = newVisitor(service);
    const signIn = await visitor.open(`/sign-in?next=${next}`);
    const step = await visitor.send(signIn, "Sign in", { email: user.email, password: PASSWORD });
    expect(step.heading).toBe("The code of your app");
    for (const sent of [1, 2]) {
      const page = await visitor.send(step, "Sign in", { code: code(0) });
      expect([sent, page.status, page.url.pathname]).toEqual([sent, 200, next === "" ? "/home" : next]);
    }
    // One whose first step is over is no way into a session that was there before.
    const late = await visitor.send(await visitor.open("/sign-in/code"), "Sign in", { code: code(0) });
    expect([late.status, late.alerts]).toEqual([400, [expect.stringContaining("missing or over")]]);
  });

  it("says of a workspace that it is handed over", async () => {
    const [owner, mate] = await Promise.all([1, 2].map(() => newUser(service, { plan: "team", verified: true })));
    const { body } = await (owner as User).call("POST", "/api/v1/teams", { name: "Passed on" });
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [
      body.id,
      mate?.id,
    ]);
    const visitor = await visitorOf(service, owner as User);
    const form = await visitor.open(`/workspaces/${body.id}`);
    for (const { status, alerts } of await thrice(visitor, form, "Make them the owner"))
      expect([status, alerts]).toEqual([200, ["Done."]]);
  });

  it("says of a mailed link's address that it is confirmed, or changed, also where nobody is signed in", async () => {
    const email = "twice@example.test";
    const visitor = newVisitor(service);
    await visitor.send(await visitor.open("/sign-up"), "Create the account", { email, password: PASSWORD });
    const stranger = newVisitor(service);
    for (const one of await thrice(stranger, await mailedTo(email, stranger), "Confirm the address"))
      expect([one.status, one.heading]).toEqual([200, "Your email address is confirmed"]);
    const next = "anew@example.test";
    const typed = { email: next, password: PASSWORD };
    await visitor.send(await visitor.open("/settings/email"), "Mail me a link to confirm it", typed);
    for (const one of await thrice(stranger, await mailedTo(next, stranger), "Use this address"))
      expect([one.status, one.heading]).toEqual([200, "Your email address is changed"]);
    await visitor.send(await visitor.open("/forgot-password"), "Send me a link", { email: next });
    const reset = { new_password: "a better password" };
    for (const one of await thrice(stranger, await mailedTo(next, stranger), "Set the password", reset))
      expect([one.status, one.heading]).toEqual([200, expect.stringMatching(/password (is set|was set before)$/)]);
    const unknown = await stranger.send(await stranger.open("/confirm-email?token=none"), "Use this address");
    expect(unknown.status).toBe(400);
  });

  it("says that the program is let in, to which account, and that an account with all its keys has no more", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(service, user);
    const asks = async () =>
      `/device?user_code=${(await user.call("POST", "/api/v1/auth/device", { client_name: "laptop" })).body.user_code}`;
    const form = await visitor.open(await asks());
    expect(form.html).toContain(`<bdi>${user.email}</bdi>`);
    for (const { status, alerts } of await thrice(visitor, form, "Allow"))
      expect([status, alerts]).toEqual([200, [expect.stringContaining("It has its key in a few seconds")]]);
    await service.sql(
      `insert into api_keys (user_id, name, prefix, key_hash, scope)
        select $1, 'n' || i, 'ask_', md5(random()::text), 'read' from generate_series(1, 100) i`,
      [user.id],
    );
    const full = await visitor.send(await visitor.open(await asks()), "Allow");
    expect(full.alerts).toEqual([expect.stringContaining("has 100 keys, and can have no more")]);
  });
});
