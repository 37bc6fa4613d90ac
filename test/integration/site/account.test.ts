import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, PASSWORD } from "../../stack/client.ts";
import { linkOf, type Mail } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite } from "../runs/support.ts";

let service: TestService;
let now = new Date("2026-11-22T10:00:00.000Z");
let people = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => now } });
});
afterAll(() => service.stop());

const later = (minutes: number): void => void (now = new Date(now.getTime() + minutes * 60_000));
const newEmail = (): string => `person${(people += 1)}@example.test`;

async function mailTo(email: string, subject: string): Promise<Mail> {
  await service.settled();
  const mail = service.mailbox.list(email).find((one) => one.subject === subject);
  if (mail === undefined) throw new Error(`no mail "${subject}" to ${email}`);
  return mail;
}

/** The path of the page that a mail's link opens. */
function pathIn(mail: Mail): string {
  const { pathname, search } = linkOf(mail);
  return pathname + search;
}

async function signedUp(email = newEmail()): Promise<{ visitor: Visitor; email: string; page: Page }> {
  const visitor = newVisitor(service);
  const page = await visitor.send(await visitor.open("/sign-up"), "Create the account", { email, password: PASSWORD });
  return { visitor, email, page };
}

const verified = async (email: string) =>
  (await service.sql<{ email_verified: boolean }>("select email_verified from users where email = $1", [email]))[0]
    ?.email_verified;

describe("an account, by the pages alone", () => {
  it("is made, confirmed by the mailed link, signed out of and into", async () => {
    const { visitor, email, page } = await signedUp();
    expect([page.status, page.url.pathname]).toEqual([200, "/home"]);
    expect(visitor.cookies()).toMatchObject({
      service_session: expect.any(String),
      service_refresh: expect.any(String),
    });
    expect(page.headers.get("cache-control")).toBe("no-store");

    const path = pathIn(await mailTo(email, "Confirm your email address"));
    const confirm = await visitor.open(path);
    expect(confirm.heading).toBe("Confirm your email address");
    const confirmed = await visitor.send(confirm, "Confirm the address");
    expect(confirmed.heading).toBe("Your email address is confirmed");
    expect(await verified(email)).toBe(true);

    const out = await visitor.send(await visitor.open("/home"), "Sign out");
    expect(out.url.pathname).toBe("/");
    expect(visitor.cookies()).toEqual({});
    const asked = await visitor.open("/home");
    expect([asked.url.pathname, asked.heading]).toEqual(["/sign-in", "Sign in"]);
    const back = await visitor.send(asked, "Sign in", { email, password: PASSWORD });
    expect([back.status, back.url.pathname]).toEqual([200, "/home"]);
  });

  it("keeps what was typed but the password, tells what is wrong at its field, and reads it out", async () => {
    const visitor = newVisitor(service);
    const email = newEmail();
    const page = await visitor.send(await visitor.open("/sign-up"), "Create the account", {
      email,
      username: "-x-",
      password: PASSWORD,
    });
    expect([page.status, page.heading]).toEqual([422, "Create an account"]);
    expect(page.wrong).toEqual({ username: "3 to 39 letters, digits, - or _; a letter or digit at both ends" });
    expect(page.alerts).toEqual([expect.stringContaining("Username: 3 to 39 letters")]);
    expect(page.html).toMatch(
      /<input id="username"[^>]* aria-describedby="username-hint username-error"[^>]*aria-invalid="true"/,
    );
    expect(page.forms.find(({ buttons }) => "Create the account" in buttons)?.fields).toEqual({
      email,
      username: "-x-",
      password: "",
    });
    const weak = await visitor.send(page, "Create the account", { username: "", password: "password12" });
    expect(Object.keys(weak.wrong)).toEqual(["password"]);
    expect(weak.html).not.toContain("password12");
    const made = await visitor.send(weak, "Create the account", { password: PASSWORD });
    expect(made.url.pathname).toBe("/home");
  });

  it("is made once by a form that is sent twice at once, and both sendings end signed in", async () => {
    const visitor = newVisitor(service);
    const email = newEmail();
    const form = await visitor.open("/sign-up");
    const pages = await Promise.all(
      [visitor, visitor.beside()].map((one) => one.send(form, "Create the account", { email, password: PASSWORD })),
    );
    expect(pages.map(({ url }) => url.pathname)).toEqual(["/home", "/home"]);
    const another = newVisitor(service);
    const taken = await another.send(await another.open("/sign-up"), "Create the account", {
      email,
      password: "another good one",
    });
    expect([taken.status, taken.alerts]).toEqual([
      409,
      [expect.stringContaining("There is an account with this email")],
    ]);
    expect(another.cookies()).toEqual({});
  });

  it("says the same of a wrong password and of an unknown address", async () => {
    const { email } = await signedUp();
    const visitor = newVisitor(service);
    const texts = [];
    for (const one of [email, newEmail()]) {
      const page = await visitor.send(await visitor.open("/sign-in"), "Sign in", {
        email: one,
        password: "not the password",
      });
      expect([page.status, visitor.cookies()]).toEqual([401, {}]);
      texts.push(page.html.replaceAll(one, ""));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  it("gets a new password by the mailed link, which a refused password does not use up", async () => {
    const { visitor, email } = await signedUp();
    const sent = await visitor.send(await visitor.open("/forgot-password"), "Send me a link", { email });
    expect(sent.alerts).toEqual([expect.stringContaining(`for ${email}, a link is on its way`)]);
    const stranger = await visitor.send(await visitor.open("/forgot-password"), "Send me a link", {
      email: "nobody@example.test",
    });
    expect(stranger.html.replace("nobody@example.test", email)).toBe(sent.html);

    const elsewhere = newVisitor(service);
    const asked = await elsewhere.open(pathIn(await mailTo(email, "Reset your password")));
    const refused = await elsewhere.send(asked, "Set the password", { new_password: "short" });
    expect([refused.status, Object.keys(refused.wrong)]).toEqual([422, ["new_password"]]);
    const set = await elsewhere.send(refused, "Set the password", { new_password: "a better password" });
    expect(set.heading).toBe("The new password is set");
    const again = await elsewhere.send(refused, "Set the password", { new_password: "another password" });
    expect(again.heading).toBe("The password was set before");
    const signIn = await elsewhere.follow(set, "Sign in with it");
    expect((await elsewhere.send(signIn, "Sign in", { email, password: "a better password" })).url.pathname).toBe(
      "/home",
    );
    // Every other session has ended.
    expect((await visitor.open("/home")).url.pathname).toBe("/sign-in");
  });

  it("is signed in by the code host, back to where it was to go, and told why not", async () => {
    const visitor = newVisitor(service);
    const asked = await visitor.open("/accept-invitation?token=none");
    expect(asked.url.pathname).toBe("/sign-in");
    const back = await visitor.follow(asked, "Continue with GitHub");
    expect([back.url.pathname, back.heading]).toEqual(["/accept-invitation", "Join a workspace"]);
    expect(visitor.cookies()).not.toHaveProperty("service_next");
    const failed = await newVisitor(service).open("/auth/callback?error=email_not_verified");
    expect(failed.alerts).toEqual([expect.stringContaining("is not verified there")]);
    const strange = await newVisitor(service).open("/auth/callback?error=%3Cscript%3E");
    expect(strange.html.match(/<script(?! type="module" src="\/times\.js\?)/g)).toBeNull();
  });

  it("is deleted by the mailed link where it has no password, and told before what goes", async () => {
    const visitor = newVisitor(service);
    await visitor.follow(await visitor.open("/sign-in"), "Continue with GitHub");
    const token = visitor.cookies()["service_session"] ?? "";
    const mailed = await fetch(`${service.url}/api/v1/users/me/deletion/confirmation-link`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    expect(mailed.status).toBe(202);
    const page = await visitor.open(
      pathIn(await mailTo("developer@example.test", "Confirm the deletion of your account")),
    );
    expect(page.html).toContain("API keys");
    const done = await visitor.send(page, "Delete the account in 14 days");
    expect(done.alerts).toEqual([expect.stringContaining("2026-12-06")]);
    const twice = await visitor.send(page, "Delete the account in 14 days");
    expect([twice.status, twice.alerts]).toEqual([200, done.alerts]);
    const kept = await visitor.send(await visitor.open("/settings/deletion"), "Keep the account");
    expect(kept.alerts).toEqual(["The account stays."]);
    const asked = await visitor.send(await visitor.open("/settings/deletion"), "Mail me the link that confirms it");
    expect(asked.alerts).toEqual([expect.stringContaining("on its way to developer@example.test")]);
  });

  it("joins a workspace by the mailed link, after signing up on the way", async () => {
    const owner = await newUser(service, { plan: "team", verified: true });
    const team = await owner.call("POST", "/api/v1/teams", { name: "Night & Day" });
    const email = newEmail();
    await owner.call("POST", `/api/v1/teams/${team.body.id}/invitations`, { email, role: "runner" });
    const visitor = newVisitor(service);
    const asked = await visitor.open(pathIn(await mailTo(email, "You are invited to a workspace")));
    const signUp = await visitor.follow(asked, "Create one");
    const page = await visitor.send(signUp, "Create the account", { email, password: PASSWORD });
    expect(page.heading).toBe("Join a workspace");
    expect((await visitor.send(page, "Join the workspace")).heading).toBe("Welcome to Night & Day");
    expect((await visitor.send(page, "Join the workspace")).heading).toBe("Welcome to Night & Day");
    const { visitor: stranger } = await signedUp();
    const refused = await stranger.send(await stranger.open(page.url.pathname + page.url.search), "Join the workspace");
    expect(refused.status).toBe(400);
  });
});

describe("a mailed link", () => {
  it("is not used up by opening it, however often, and by whatever method that reads", async () => {
    const { visitor, email } = await signedUp();
    const path = pathIn(await mailTo(email, "Confirm your email address"));
    for (const method of ["GET", "HEAD", "GET", "OPTIONS"]) await fetch(service.url + path, { method });
    expect(await verified(email)).toBe(false);
    const page = await visitor.send(await visitor.open(path), "Confirm the address");
    expect(page.heading).toBe("Your email address is confirmed");
    // The second of two clicks finds it done.
    expect((await visitor.send(await visitor.open(path), "Confirm the address")).heading).toBe(page.heading);
    const stranger = newVisitor(service);
    const spent = await stranger.send(await stranger.open(path), "Confirm the address");
    expect(spent.heading).toBe("Your email address is confirmed");
  });

  it("tells no other site and no log what its token is", async () => {
    const path = "/reset-password?token=tok_only_for_its_reader";
    const page = await newVisitor(service).open(path);
    expect(page.headers.get("referrer-policy")).toBe("strict-origin");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.html.match(/tok_only_for_its_reader/g)).toHaveLength(1);
    const visitor = newVisitor(service);
    await visitor.send(page, "Set the password", { new_password: "a good password" });
    expect(service.logs.join("\n")).not.toContain("tok_only_for_its_reader");
  });
});

describe("a session that ends while a page is open", () => {
  it("is taken up again without the visitor noticing, on a read and with a form in hand", async () => {
    const { visitor, email } = await signedUp();
    const before = visitor.cookies()["service_refresh"];
    later(16);
    expect((await visitor.open("/home")).url.pathname).toBe("/home");
    expect(visitor.cookies()["service_refresh"]).not.toBe(before);
    const form = await visitor.open("/resend-verification");
    later(16);
    service.mailbox.clear();
    const sent = await visitor.send(form, "Send the link again");
    expect(sent.alerts).toEqual([expect.stringContaining("a link is on its way")]);
    expect(await mailTo(email, "Confirm your email address")).toBeDefined();
  });

  it("is taken up again on pages that strangers see less of, or nothing, and leaves what is open to who can't", async () => {
    const user = await newUser(service);
    const [agent, shown] = [await addAgent(user, { name: "Hidden", is_public: false }), await addAgent(user)];
    const suite = await addSuite(service, 1);
    const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    const visitor = await visitorOf(service, user);
    await newVisitor(service).open(`/agents/${shown}`);
    for (const [path, name] of [
      [`/agents/${agent}`, "Hidden"],
      [`/runs/${runs.body[0].id}`, "Run of Hidden"],
      [`/sessions/${runs.body[0].screening_session_id}`, "Screening of Hidden"],
    ] as const) {
      later(16);
      const page = await visitor.open(path);
      expect([page.status, page.url.pathname, page.heading]).toEqual([200, path, name]);
    }
    const changes = (page: Page) => page.links.some(({ text }) => text === "Change it");
    // Though a stranger's page was just kept.
    later(16);
    await newVisitor(service).open(`/agents/${shown}`);
    expect(changes(await visitor.open(`/agents/${shown}`))).toBe(true);
    later(31 * 24 * 60);
    const stranger = await visitor.open(`/agents/${shown}`);
    expect([stranger.status, changes(stranger), visitor.cookies()]).toEqual([200, false, {}]);
  });

  it("is taken up again for who comes by a link of another site, as in a mail, but not for another site's form", async () => {
    const { visitor } = await signedUp();
    later(16);
    const page = await visitor.arrive("/home");
    expect([page.status, page.url.pathname, page.heading]).toEqual([200, "/home", "My agents"]);
    later(16);
    const { service_session: session, service_refresh: refresh } = visitor.cookies();
    const sent = await fetch(`${service.url}/api/v1/auth/refresh/resume?next=/home`, {
      method: "POST",
      redirect: "manual",
      headers: {
        accept: "text/html",
        origin: "https://evil.example",
        cookie: `service_session=${session ?? ""}; service_refresh=${refresh ?? ""}`,
      },
      body: new URLSearchParams({}),
    });
    expect(sent.status).toBe(403);
    expect((await visitor.open("/home")).heading).toBe("My agents");
  });

  it("is taken up once where a browser opens several pages at once, and stays in force", async () => {
    const { visitor } = await signedUp();
    later(16);
    const pages = await Promise.all([1, 2, 3].map(() => visitor.open("/home")));
    const waiting = pages.filter(({ heading }) => heading === "One moment");
    for (const page of pages) expect(["One moment", "My agents"]).toContain(page.heading);
    for (const page of waiting) expect(page.headers.get("refresh")).toBe("1; url=/home");
    expect((await visitor.open("/home")).heading).toBe("My agents");
    expect(waiting.length).toBeLessThan(3);
  });

  it("is taken up before a file is sent, too, where its page was left open", async () => {
    const { visitor, email } = await signedUp();
    await service.sql("update users set plan = 'pro' where email = $1", [email]);
    const settings = await visitor.open("/settings");
    later(16);
    const all = await visitor.follow(settings, "Download everything");
    later(16);
    const runs = await visitor.open(`/sessions/${crypto.randomUUID()}/export/csv`);
    expect([all, runs].map(({ status, url }) => [status, url.pathname])).toEqual([
      [200, "/api/v1/users/me/export"],
      // There is no such screening, which is said to somebody who is signed in.
      [404, "/api/v1/runs/export.csv"],
    ]);
  });

  it("brings the visitor back to the page after signing in, where it can't be taken up", async () => {
    const { visitor, email } = await signedUp();
    const form = await visitor.open("/resend-verification");
    later(31 * 24 * 60);
    const asked = await visitor.send(form, "Send the link again");
    expect(asked.url.pathname).toBe("/sign-in");
    const back = await visitor.send(asked, "Sign in", { email, password: PASSWORD });
    expect(back.url.pathname).toBe("/resend-verification");
  });

  it.each([
    ["with its cookies", []],
    ["without a cookie", ["service_session", "service_refresh"]],
  ])("keeps what was typed where it can't be taken up, %s, until the visitor has signed in", async (_what, gone) => {
    const { visitor, email } = await signedUp();
    const form = await visitor.open("/agents/new");
    later(31 * 24 * 60);
    for (const name of gone) visitor.forget(name);
    const typed = { name: "Typed for long", description: `  "two" <b>words</b> & عادة` };
    const kept = await visitor.send(form, "Connect the agent", typed);
    expect([kept.status, kept.heading]).toEqual([401, "Your session has ended"]);
    // Sent too early it is kept once more; then the visitor signs in beside it.
    const still = await visitor.send(kept, "Send it again");
    expect([still.status, still.heading]).toEqual([401, "Your session has ended"]);
    await visitor.send(await visitor.follow(still, "Sign in, in another tab"), "Sign in", {
      email,
      password: PASSWORD,
    });
    const made = await visitor.send(still, "Send it again");
    expect(made.heading).toBe("Screen Typed for long");
    const path = made.url.pathname.replace("/screen", "/edit");
    const { forms } = await visitor.open(path);
    expect(forms.find(({ buttons }) => "Save" in buttons)?.fields["description"]).toBe(typed.description.trim());
  });

  it.each([
    "//evil.example/x",
    "https://evil.example/",
    "/\\evil.example",
    "/\t/evil.example",
    "/api/v1/auth/codehost",
    "/.//evil.example",
    "",
  ])("leads nobody to %j", async (next) => {
    const { email } = await signedUp();
    const visitor = newVisitor(service);
    const asked = await visitor.open(`/sign-in?next=${encodeURIComponent(next)}`);
    const page = await visitor.send(asked, "Sign in", { email, password: PASSWORD });
    expect(page.url.href).toBe(`${service.url}/home`);
  });
});

describe("a form that another site sends", () => {
  it.each(["/sign-in", "/sign-up", "/sign-out", "/forgot-password", "/verify-email", "/accept-invitation"])(
    "to %s changes nothing",
    async (path) => {
      const { visitor, email } = await signedUp();
      const { service_session: session } = visitor.cookies();
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
      ]) {
        const answer = await fetch(service.url + path, {
          method: "POST",
          redirect: "manual",
          headers: { ...headers, accept: "text/html", cookie: `service_session=${session ?? ""}` },
          body: new URLSearchParams({ email, password: PASSWORD }),
        });
        expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
        expect(await answer.text()).toContain("The request comes from another site");
      }
      expect((await visitor.open("/home")).url.pathname).toBe("/home");
    },
  );
});
