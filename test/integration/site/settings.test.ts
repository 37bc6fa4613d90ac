import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { LIMITS } from "../../../shared/http/limits.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor } from "../../stack/visitor.ts";
import { addSuite, range } from "../runs/support.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A visitor who is signed in to this account. */
async function visitorOf({ email }: Pick<User, "email">): Promise<Visitor> {
  const visitor = newVisitor(service);
  await visitor.send(await visitor.open("/sign-in"), "Sign in", { email, password: PASSWORD });
  return visitor;
}

describe("the settings, by the pages alone", () => {
  it("change the username, and keep what was typed where it can't be had", async () => {
    const taken = await newUser(service);
    await taken.call("PATCH", "/api/v1/auth/me", { username: "taken" });
    const visitor = await visitorOf(await newUser(service));
    const refused = await visitor.send(await visitor.open("/settings"), "Save", { username: "taken" });
    expect([refused.status, refused.wrong]).toEqual([409, { username: "This username is taken; choose another." }]);
    expect(refused.html).toContain('value="taken"');
    const saved = await visitor.send(refused, "Save", { username: "free-one" });
    expect(saved.alerts).toEqual(["Saved."]);
    expect((await visitor.open("/settings")).html).toContain('value="free-one"');
  });

  it("lead to the board and the guides, as all pages of somebody who is signed in do", async () => {
    const { links } = await (await visitorOf(await newUser(service))).open("/settings");
    expect(links).toEqual(
      expect.arrayContaining(
        [
          ["Board", "/"],
          ["Docs", "/docs"],
        ].map(([text, href]) => ({ text, href })),
      ),
    );
  });

  it("stand in the head of what mailed links open, too, and a stranger's there for strangers", async () => {
    const visitor = await visitorOf(await newUser(service));
    const head = ({ html }: Page) => [/>Sign out</.test(html), /href="\/sign-up"/.test(html)];
    for (const path of ["/verify-email", "/confirm-email", "/reset-password", "/forgot-password"]) {
      const [own, open] = [await visitor.open(`${path}?token=x`), await newVisitor(service).open(`${path}?token=x`)];
      expect([path, head(own), head(open)]).toEqual([path, [true, false], [false, true]]);
    }
    const form = await visitor.open("/verify-email?token=x");
    const refused = await visitor.send(form, "Confirm the address");
    expect([refused.status >= 400, head(refused)]).toEqual([true, [true, false]]);
  });

  it("change the password, which ends every other session, from the address that browsers know", async () => {
    const user = await newUser(service);
    const [visitor, other] = [await visitorOf(user), await visitorOf(user)];
    const page = await visitor.open("/.well-known/change-password");
    expect(page.url.pathname).toBe("/settings/password");
    const wrong = await visitor.send(page, "Change the password", {
      current_password: "not this one",
      new_password: "a better password",
    });
    expect([wrong.status, wrong.wrong]).toEqual([401, { current_password: "The password is wrong." }]);
    expect(wrong.html).not.toMatch(/not this one|a better password/);
    const changed = await visitor.send(wrong, "Change the password", {
      current_password: PASSWORD,
      new_password: "a better password",
    });
    expect(changed.alerts).toEqual([expect.stringContaining("The password is changed")]);
    expect((await visitor.open("/home")).url.pathname).toBe("/home");
    expect((await other.open("/home")).url.pathname).toBe("/sign-in");
  });

  it.each(["/settings/password", "/settings/email", "/settings/deletion"])(
    "tell password managers whose password is asked for, in a field that they read: %s",
    async (path) => {
      const user = await newUser(service);
      const { html } = await (await visitorOf(user)).open(path);
      const [, before = ""] = /<form method="post" action="\/settings\/([^]*?)type="password"/.exec(html) ?? [];
      expect(before).toContain(
        `<input type="text" name="username" autocomplete="username" value="${user.email}" hidden=""/>`,
      );
    },
  );

  it("list where the account is signed in, and end one session or all", async () => {
    const user = await newUser(service);
    const [visitor, other] = [await visitorOf(user), await visitorOf(user)];
    // Of the other two sessions the one of the browser was used last.
    const left = await visitor.send(await visitor.open("/settings/sessions"), "Sign out there");
    expect(left.html.match(/>Sign out there</g)).toHaveLength(1);
    expect((await other.open("/home")).url.pathname).toBe("/sign-in");
    const out = await visitor.send(left, "Sign out everywhere");
    expect([out.url.pathname, visitor.cookies()]).toEqual(["/sign-in", {}]);
    expect((await user.call("GET", "/api/v1/auth/me")).status).toBe(401);
  });

  it.each(["\0", "é", "\u{1f511}", "two words", "x".repeat(256)])(
    "refuse a form whose hidden key no request can have: %j",
    async (key) => {
      const visitor = await visitorOf(await newUser(service));
      const form = await visitor.open("/settings/api-keys");
      for (const { sent } of form.forms) for (const field of sent) if (field[0] === "_key") field[1] = key;
      const refused = await visitor.send(form, "Make the key", { name: "ci", scope: "write" });
      expect([refused.status, refused.alerts.join().includes("Idempotency-Key")]).toEqual([422, true]);
      expect((await visitor.open("/settings/api-keys")).html).not.toContain(">ci<");
    },
  );

  it("make an API key that is shown once and works, once however often the form is sent, and revoke it", async () => {
    const visitor = await visitorOf(await newUser(service));
    const form = await visitor.open("/settings/api-keys");
    const refused = await visitor.send(form, "Make the key", { name: " ", scope: "write" });
    expect([refused.status, Object.keys(refused.wrong)]).toEqual([422, ["name"]]);
    expect(refused.forms.find(({ buttons }) => "Make the key" in buttons)?.fields["scope"]).toBe("write");
    const made = await visitor.send(refused, "Make the key", { name: "CI" });
    const key = /ask_[\w-]+(?=<\/textarea>)/.exec(made.html)?.[0] ?? "";
    const answer = await fetch(`${service.url}/api/v1/auth/me`, { headers: { "x-api-key": key } });
    expect(answer.status).toBe(200);
    const twice = await visitor.send(refused, "Make the key", { name: "CI" });
    expect(twice.alerts).toEqual([expect.stringContaining("was made by the first of two sendings")]);
    expect(twice.html).not.toContain(key);
    expect(twice.html.match(/>\s*Revoke\s*</g)).toHaveLength(1);
    const taken = await visitor.send(twice, "Make the key", { name: "ci" });
    expect([taken.status, Object.keys(taken.wrong)]).toEqual([409, ["name"]]);
    const rotated = await visitor.send(twice, "Rotate");
    const next = /ask_[\w-]+(?=<\/textarea>)/.exec(rotated.html)?.[0] ?? "";
    expect(next).not.toBe(key);
    // As a browser does that loads the page with the new key again.
    const reloaded = await visitor.send(twice, "Rotate");
    expect(reloaded.alerts).toEqual([expect.stringContaining("was made by the first of two sendings")]);
    expect((await fetch(`${service.url}/api/v1/auth/me`, { headers: { "x-api-key": next } })).status).toBe(200);
    await visitor.send(rotated, "Revoke");
    for (const one of [key, next]) {
      const gone = await fetch(`${service.url}/api/v1/auth/me`, { headers: { "x-api-key": one } });
      expect(gone.status).toBe(401);
    }
  });

  it("say until when a key works, and which one has expired", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(user);
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await user.call("POST", "/api/v1/api-keys", { name: "For a day", scope: "read", expires_at });
    const works = await visitor.open("/settings/api-keys");
    expect(works.html).toMatch(new RegExp(`For a day</bdi><span class="tag">until <time datetime="${expires_at}"`));
    await service.sql("update api_keys set expires_at = now() - interval '1 second' where id = $1", [body.id]);
    const { html, forms } = await visitor.open("/settings/api-keys");
    expect(html).toContain("<td>expired</td>");
    // Rotating it is refused; it can be taken off the list.
    expect(forms.flatMap(({ buttons }) => Object.keys(buttons))).toEqual(expect.not.arrayContaining(["Rotate"]));
    await visitor.send(await visitor.open("/settings/api-keys"), "Revoke");
  });

  it("make an API key that may do what was chosen alone", async () => {
    const visitor = await visitorOf(await newUser(service));
    const form = await visitor.open("/settings/api-keys");
    const narrow = { name: "Narrow", scope: "chosen", runs: "write" };
    const nothing = await visitor.send(form, "Make the key", { ...narrow, runs: "" });
    expect([nothing.status, Object.keys(nothing.wrong)]).toEqual([422, ["scopes"]]);
    const chosen =
      /ask_[\w-]+(?=<\/textarea>)/.exec((await visitor.send(nothing, "Make the key", narrow)).html)?.[0] ?? "";
    const asked = await Promise.all(
      ["runs", "agents"].map((path) => fetch(`${service.url}/api/v1/${path}`, { headers: { "x-api-key": chosen } })),
    );
    expect(asked.map(({ status }) => status)).toEqual([200, 403]);
  });

  it("tell of the account's runs, by what was chosen, and keep days that can't be told of", async () => {
    const user = await newUser(service);
    const { body: agent } = await user.call("POST", "/api/v1/agents", { name: "Counted <b>" });
    const { id: suite_id } = await addSuite(service, 2);
    await user.call("POST", "/api/v1/runs/batch", { agent_id: agent.id, suite_id, repeats: 3 });
    await service.settled();
    const visitor = await visitorOf(user);
    const page = await visitor.follow(await visitor.open("/settings"), "Usage");
    expect(page.html).toContain('<strong>In all</strong></td><td class="number">6</td>');
    const byAgent = await visitor.open("/settings/usage?from=&to=&by=agent");
    expect(byAgent.html).toContain("Counted &lt;b&gt;");
    const wrong = await visitor.open("/settings/usage?from=2026-01-01&to=2026-12-31&by=day");
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["from"]]);
    expect(wrong.html).toContain('value="2026-01-01"');
  });

  it("delete the account after its password and a preview, and keep it after all", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(user);
    const page = await visitor.open("/settings/deletion");
    expect(page.html).toContain("After 14 days this is removed for good");
    const wrong = await visitor.send(page, "Delete the account in 14 days", { password: "not this one" });
    expect([wrong.status, wrong.wrong]).toEqual([401, { password: "The password is wrong." }]);
    const pending = await visitor.send(wrong, "Delete the account in 14 days", { password: PASSWORD });
    expect(pending.alerts).toEqual([expect.stringContaining("The account will be deleted on")]);
    expect((await visitor.open("/home")).html).toContain("Your account will be deleted on");
    const kept = await visitor.send(pending, "Keep the account");
    expect(kept.alerts).toEqual(["The account stays."]);
    expect((await user.call("GET", "/api/v1/auth/me")).body.deletion_scheduled_for).toBeNull();
  });
});

describe("what browsers and machines ask every site for", () => {
  it.each([
    ["/favicon.svg", "image/svg+xml", /^<svg /],
    ["/robots.txt", "text/plain; charset=utf-8", /Disallow: \/settings[\s\S]*Sitemap: http/],
    [
      "/.well-known/security.txt",
      "text/plain; charset=utf-8",
      /^Contact: mailto:security@example\.test\nExpires: \d{4}-/,
    ],
  ])("%s", async (path, type, text) => {
    const answer = await fetch(service.url + path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
    expect(await answer.text()).toMatch(text);
  });

  it("/sitemap.xml has the board and the agents on it, and none that is private", async () => {
    const user = await newUser(service);
    const shown = await user.call("POST", "/api/v1/agents", { name: "Shown" });
    const tasks = await user.call("GET", "/api/v1/tasks?page_size=1");
    await user.call("POST", "/api/v1/runs", { agent_id: shown.body.id, task_id: tasks.body.items[0].id });
    const hidden = await user.call("POST", "/api/v1/agents", { name: "Hidden", is_public: false });
    await service.settled();
    const text = await (await fetch(`${service.url}/sitemap.xml`)).text();
    expect(text).toContain(`<loc>${service.url}/</loc>`);
    expect(text).toContain(`<loc>${service.url}/agents/${shown.body.id}</loc>`);
    expect(text).not.toContain(hidden.body.id);
    expect(text).toContain(`<loc>${service.url}/docs/guides/verify-evidence</loc>`);
    for (const [, address = ""] of text.matchAll(/<loc>([^<]+[^</])<\/loc>/g)) {
      const page = await fetch(address, { redirect: "manual" });
      expect([address, page.status]).toEqual([address, 200]);
    }
  });

  it.each([
    ["/docs/guides/the-score", null],
    ["/suites/core?page=1", null],
    ["/robots.txt", null],
    ["/sign-in?next=%2Fhome", "noindex"],
    ["/forgot-password", "noindex"],
  ])("%s is left out by search engines where it is about one errand alone", async (path, told) => {
    const { headers } = await fetch(service.url + path, { redirect: "manual" });
    expect(headers.get("x-robots-tag")).toBe(told);
  });

  it("a problem as a page where a browser asks for one, and as problem+json for everyone else", async () => {
    const visitor = newVisitor(service);
    const page = await visitor.open("/nothing/here");
    expect([page.status, page.heading]).toEqual([404, "There is nothing here"]);
    const plain = await fetch(`${service.url}/nothing/here`);
    expect([plain.status, plain.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    const api = await fetch(`${service.url}/api/v1/nothing`, { headers: { accept: "text/html" } });
    expect(api.headers.get("content-type")).toBe("application/problem+json");
    service.faults.set({ service: "db", mode: "down" });
    const down = await visitor.open("/");
    service.faults.set({ service: "db", mode: "none" });
    expect([down.status, down.heading]).toEqual([503, "A part of the service does not answer"]);
    expect(down.html).toMatch(/Request <code>[0-9a-f-]{36}<\/code>/);
  });

  it("a problem with the head of who is signed in, which takes no look at the session", async () => {
    const visitor = await visitorOf(await newUser(service));
    const before = service.counters.snapshot().db.requests;
    const missing = await visitor.open("/nothing/here");
    expect([missing.status, service.counters.snapshot().db.requests]).toEqual([404, before]);
    service.faults.set({ service: "db", mode: "down" });
    const down = await visitor.open("/home");
    service.faults.set({ service: "db", mode: "none" });
    expect(down.status).toBe(503);
    for (const { forms, links } of [missing, down]) {
      expect(forms.some(({ buttons }) => "Sign out" in buttons)).toBe(true);
      expect(links.map(({ text }) => text)).toEqual(expect.arrayContaining(["My agents", "Settings"]));
    }
    // Nothing is left of it once the visitor has signed out.
    await visitor.send(missing, "Sign out");
    expect((await visitor.open("/nothing/here")).links.map(({ text }) => text)).toContain("Sign up");
  });
});

const open = (path: string): Promise<Page> => newVisitor(service).open(path);
const words = ({ html }: Page) => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

describe("the status", () => {
  it("says what answers, and what does not", async () => {
    expect(words(await open("/status"))).toContain("Everything answers.");
    service.faults.set({ service: "qstash", mode: "error" });
    const down = await open("/status");
    service.faults.set({ service: "qstash", mode: "none" });
    expect([down.status, words(down)]).toEqual([200, expect.stringContaining("Something does not answer.")]);
  });

  it("says when to come back to whoever asks too often, which is no fault of the service", async () => {
    const address = { "cf-connecting-ip": "172.27.0.1" };
    const asked = () => caller(service, address).call("GET", "/api/v1/auth/me");
    for (const _round of range(5)) await Promise.all(range(LIMITS.read / 5).map(asked));
    const refused = await caller(service, { ...address, accept: "text/html" }).call("GET", "/status");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(refused.text).not.toContain("Something does not answer.");
  });
});

describe("the page of all parts", () => {
  it("is there for those who build pages, and not in production", async () => {
    expect((await open("/design")).status).toBe(200);
    const settings = {
      ...service.settings,
      ENVIRONMENT: "production",
      FRONTEND_URL: "https://www.example.test",
      BASE_URL: "https://api.example.test",
      DNS_RESOLVER_URL: "https://dns.example.test/dns-query",
      NEON_LOCAL_PROXY: "",
      RESEND_API_BASE: "",
    };
    const app = createApplication(settings, { log: () => undefined });
    expect((await app.fetch(new Request(`${settings.BASE_URL}/design`))).status).toBe(404);
  });
});
