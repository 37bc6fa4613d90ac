import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, UNTICKED, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

const NOBODY = "http://127.0.0.1:9/agent";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let visitor: Visitor;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  owner = await newUser(service, { plan: "team", verified: true });
  visitor = await visitorOf(service, owner);
});
afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

describe("a form that could not be taken", () => {
  beforeEach(async () => {
    visitor = await visitorOf(service, owner);
  });

  it("is kept as it was typed while a part of the service is away, and made once it is sent again", async () => {
    const form = await visitor.open("/agents/new");
    service.faults.set({ service: "db", mode: "down" });
    const typed = { name: "Typed while it was away", description: `  "two" <b>words</b> & عادة` };
    const away = await visitor.send(form, "Connect the agent", typed);
    const still = await visitor.send(away, "Send it again");
    service.faults.set({ service: "db", mode: "none" });
    expect([away.status, still.status]).toEqual([503, 503]);
    const made = await visitor.send(still, "Send it again");
    expect(made.heading).toBe("Screen Typed while it was away");
    const { forms } = await visitor.open(made.url.pathname.replace("/screen", "/edit"));
    expect(forms.find(({ buttons }) => "Save" in buttons)?.fields["description"]).toBe(typed.description.trim());
  });

  it("is done once where its answer was lost, and where it is sent while it is being done", async () => {
    const { id: suite_id } = await addSuite(service, 2);
    for (const [how, status] of [
      ["lost", 503],
      ["in progress", 409],
    ] as const) {
      const id = await addAgent(owner, { name: `Sent again: ${how}` });
      const form = await visitor.open(`/agents/${id}/screen`);
      const key = form.forms.find(({ buttons }) => "Start the screening" in buttons)?.fields["_key"];
      const claim = `hashtextextended('${owner.id}' || chr(10) || '${key}', 0)`;
      if (how === "lost") service.faults.set({ service: "db", mode: "lost", count: 1, body: "idempotency_keys" });
      else await service.sql(`select pg_advisory_lock(${claim})`);
      const failed = await visitor.send(form, "Start the screening", { suite_id });
      expect([how, failed.status]).toEqual([how, status]);
      expect(failed.forms.some(({ buttons }) => "Start the screening" in buttons)).toBe(false);
      if (how !== "lost") await service.sql("select pg_advisory_unlock_all()");
      const led = await visitor.send(failed, "Send it again");
      const sessions = await service.sql<{ id: string }>("select id from screening_sessions where agent_id = $1", [id]);
      expect([how, sessions.map((session) => `/sessions/${session.id}`)]).toEqual([how, [led.url.pathname]]);
    }
    await service.settled();
  });
});

describe("changing an agent, by the pages alone", () => {
  it("tries another endpoint first, changes what was changed alone, and keeps what was typed where it is refused", async () => {
    const root = await addAgent(owner, { name: "Root" });
    const id = await addAgent(owner, { name: "Before", declared_configuration: { model: "m-1" } });
    const path = `/agents/${id}/edit`;
    const agent = async () => (await owner.call("GET", `/api/v1/agents/${id}`)).body as unknown as object;

    const form = await visitor.open(path);
    const dead = await visitor.send(form, "Save", { name: "After", endpoint: NOBODY });
    expect(dead.alerts).toEqual([expect.stringContaining("does not answer as it should")]);
    expect(await agent()).toMatchObject({ name: "Before", endpoint: null });
    const wrong = await visitor.send(dead, "Save", { endpoint: endpoint.url, declared_configuration: "{model" });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["declared_configuration"]]);
    const typed = { name: "After", declared_configuration: "{model" };
    expect(wrong.forms.find(({ buttons }) => "Save" in buttons)?.fields).toMatchObject(typed);
    // Meanwhile somebody else changes what this form leaves as it is.
    await owner.call("PATCH", `/api/v1/agents/${id}`, { allow_trial: true });
    const mended = { declared_configuration: '{"model":"m-2"}', variant_of: root, publish_answers: "true" };
    const saved = await visitor.send(wrong, "Save", mended);
    expect(saved.alerts).toEqual(["Saved."]);
    expect(await agent()).toMatchObject({
      name: "After",
      connection_mode: "http_endpoint",
      variant_of: root,
      declared_configuration: { model: "m-2" },
      allow_trial: true,
      publish_answers: true,
    });
    const bare = await visitor.send(saved, "Save", { endpoint: "", variant_of: "", publish_answers: UNTICKED });
    expect(bare.alerts).toEqual(["Saved."]);
    const none = await visitor.send(bare, "Only try the endpoint");
    expect([none.status, Object.keys(none.wrong)]).toEqual([422, ["endpoint"]]);
    expect(await agent()).toMatchObject({ connection_mode: "mock", variant_of: null, publish_answers: false });
  });

  it("gives it a header for its endpoint, keeps that without showing it, and takes it away", async () => {
    const id = await addAgent(owner, { name: "Behind a gateway", endpoint: endpoint.url });
    const kept = async () => (await owner.call("GET", `/api/v1/agents/${id}`)).body["auth_header_name"];
    const form = await visitor.open(`/agents/${id}/edit`);
    const half = await visitor.send(form, "Save", { "auth_header/name": "X-Api-Key" });
    expect([half.status, Object.keys(half.wrong), await kept()]).toEqual([422, ["auth_header/value"], null]);
    const given = await visitor.send(half, "Save", { "auth_header/value": "hidden-value" });
    expect([given.alerts, await kept(), given.html.includes("hidden-value")]).toEqual([["Saved."], "X-Api-Key", false]);
    const renamed = await visitor.send(given, "Save", { name: "Behind the gateway" });
    expect([renamed.alerts, await kept()]).toEqual([["Saved."], "X-Api-Key"]);
    const sentValues = () => endpoint.seen.splice(0).map(({ headers }) => headers["x-api-key"]);
    sentValues();
    const without = await visitor.send(renamed, "Only try the endpoint");
    expect([without.alerts.join(), sentValues()]).toEqual([
      expect.stringMatching(/without the header X-Api-Key .* every run sends it, and so does “Check it now”/),
      [undefined],
    ]);
    const tried = await visitor.send(renamed, "Only try the endpoint", { "auth_header/value": "typed-again" });
    expect([sentValues(), tried.alerts.join().includes("without")]).toEqual([["typed-again"], false]);
    const saved = await visitor.send(tried, "Save");
    expect([saved.alerts, saved.html.includes("typed-again")]).toEqual([["Saved."], false]);
    await visitor.send(saved, "Check it now");
    expect(sentValues()).toEqual(["typed-again"]);
    await visitor.send(saved, "Save", { "auth_header/name": "" });
    expect(await kept()).toBeNull();
  });

  it("takes the longest texts in any script, twice: a form's letters take many times their bytes", async () => {
    const [letters, id] = ["測".repeat(2000), await addAgent(owner, { name: "In another script" })];
    const another = await visitorOf(service, owner);
    let page = await another.open(`/agents/${id}/edit`);
    for (const model of ["m-1", "m-2"]) {
      const declared_configuration = JSON.stringify({ model, prompt: letters.repeat(2) });
      page = await another.send(page, "Save", { description: letters, declared_configuration });
      expect([page.status, page.alerts]).toEqual([200, ["Saved."]]);
    }
  });

  it("tells a name that another one has at its field", async () => {
    await addAgent(owner, { name: "Taken" });
    const form = await visitor.open(`/agents/${await addAgent(owner, { name: "To rename" })}/edit`);
    const renamed = await visitor.send(form, "Save", { name: "taken" });
    const made = await visitor.send(await visitor.open("/agents/new"), "Connect the agent", { name: "taken" });
    for (const { status, wrong } of [renamed, made]) expect([status, Object.keys(wrong)]).toEqual([409, ["name"]]);
  });

  it("connects a new one with the header that was tried, typed once", async () => {
    const typed = { name: "New, behind a gateway", "auth_header/name": "X-Api-Key", "auth_header/value": "typed-once" };
    const form = await visitor.open("/agents/new");
    const failed = await visitor.send(form, "Connect the agent", { ...typed, endpoint: NOBODY });
    const tried = await visitor.send(failed, "Only try the endpoint", { endpoint: endpoint.url });
    const made = await visitor.send(tried, "Connect the agent");
    expect(made.heading).toBe("Screen New, behind a gateway");
    endpoint.seen.splice(0);
    await visitor.send(await visitor.open(made.url.pathname.replace("/screen", "/edit")), "Check it now");
    expect(endpoint.seen.map(({ headers }) => headers["x-api-key"])).toEqual(["typed-once"]);
  });

  it("checks it, shows it to everybody and takes it back, retires it and takes it up again", async () => {
    const id = await addAgent(owner, { name: "Shy", endpoint: endpoint.url, is_public: false });
    const path = `/agents/${id}/edit`;
    const seen = async () => (await newVisitor(service).open(`/agents/${id}`)).status;
    const checked = await visitor.send(await visitor.open(path), "Check it now");
    expect(checked.html).toMatch(/Endpoint<\/dt><dd>answers/);
    expect(await seen()).toBe(404);
    const shown = await visitor.send(checked, "Show it to everybody");
    expect(await seen()).toBe(200);
    await visitor.send(shown, "Make it private");
    expect(await seen()).toBe(404);
    expect((await visitor.send(shown, "Retire the agent")).url.pathname).toBe("/home");
    const retired = await visitor.open(path);
    expect(retired.forms.map(({ buttons }) => Object.keys(buttons)).flat()).toEqual(["Sign out", "Take it up again"]);
    const back = await visitor.send(retired, "Take it up again");
    expect(back.alerts).toEqual(["It can be screened again."]);
  });

  it("says of an agent that is out of use that it can't be screened, and shows no picture that nobody finds", async () => {
    const id = await addAgent(owner, { name: "Out of use", endpoint: endpoint.url });
    const own = await visitorOf(service, owner);
    const record = () => own.open(`/agents/${id}`);
    // The badge: its owner's page is nothing to pass on, and has no card with a picture.
    const picture = async ({ html }: { html: string }) =>
      Promise.all(
        [...html.matchAll(/"([^"\s]*\.svg)"/g)]
          .map(([, src = ""]) => new URL(src, service.url))
          .filter(({ pathname }) => pathname.includes(id))
          .map(async (src) => (await fetch(src)).status),
      );
    const ways = async () =>
      (await record()).links.map(({ text }) => text).filter((text) => / it$| this agent$/.test(text));
    expect([await ways(), await picture(await record())]).toEqual([
      ["Screen this agent", "Change it", "Certify it"],
      [200],
    ]);
    const screen = async () => {
      const { forms, html } = await own.open(`/agents/${id}/screen`);
      return [forms.some(({ buttons }) => "Start the screening" in buttons), html.includes("its runs are simulated")];
    };
    await service.sql("update agents set connection_mode = 'customer_llm' where id = $1", [id]);
    expect(await screen()).toEqual([false, false]);
    const unsupported = await own.follow(await own.open(`/agents/${id}/screen`), "connect it anew");
    expect(unsupported.html).toContain("Give the old connection up");
    await service.sql("update agents set connection_mode = 'http_endpoint' where id = $1", [id]);
    await owner.call("DELETE", `/api/v1/agents/${id}`);
    expect(await screen()).toEqual([false, false]);
    expect([await ways(), await picture(await record())]).toEqual([["Change it"], []]);
    const retired = await own.follow(await own.open(`/agents/${id}/screen`), "take it up again");
    await own.send(retired, "Take it up again");
    expect(await screen()).toEqual([true, false]);
  });

  it("says who sees it while it is private: its owner alone, or the members of its workspace", async () => {
    const team = (await owner.call("POST", "/api/v1/teams", { name: "Backstage" })).body.id;
    const { id: suite_id } = await addSuite(service, 1);
    for (const [team_id, who] of [
      [null, "you"],
      [team, "the members of its workspace"],
    ] as const) {
      const id = await addAgent(owner, { name: `Seen by ${who}`, ...(team_id === null ? {} : { team_id }) });
      const page = await visitor.send(await visitor.open(`/agents/${id}/edit`), "Make it private");
      expect(page.alerts).toEqual([expect.stringContaining(`Nobody but ${who} can see it now.`)]);
      expect(page.html).toContain(`Only ${who}.`);
      const form = await visitor.open(`/agents/${id}/screen`);
      const started = await visitor.send(form, "Start the screening", { suite_id });
      await service.settled();
      expect((await visitor.open(started.url.pathname)).html).toContain(`Nobody but ${who} can see it.`);
    }
  });

  it("shows a token for telemetry once, which works until it is revoked", async () => {
    const id = await addAgent(owner, { name: "Traced", endpoint: endpoint.url });
    const form = await visitor.open(`/agents/${id}/edit`);
    const made = await visitor.send(form, "Make a token");
    const token = /otlp_[\w-]+/.exec(made.alerts.join())?.[0] ?? "";
    const push = async () => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return (await fetch(`${service.url}/api/v1/otlp/v1/traces`, { method: "POST", headers, body: "{}" })).status;
    };
    expect(await push()).toBe(200);
    const twice = await visitor.send(form, "Make a token");
    expect(twice.html).not.toContain(token);
    expect(await push()).toBe(200);
    await visitor.send(twice, "Revoke the token");
    expect(await push()).toBe(401);
  });

  it("is for those who may change it: a stranger finds what nobody's id finds", async () => {
    const id = await addAgent(owner, { name: "Known to all" });
    const stranger = await visitorOf(service, await newUser(service));
    const nobodys = "01938e7a-0000-7000-8000-000000000009";
    const [real, none] = [await stranger.open(`/agents/${id}/edit`), await stranger.open(`/agents/${nobodys}/edit`)];
    expect([real.status, real.html]).toEqual([404, none.html]);
    expect((await newVisitor(service).open(`/agents/${id}/edit`)).url.pathname).toBe("/sign-in");
  });

  it("shows its record to who is signed in with the ways of their own pages, and to others with those to come in", async () => {
    const id = await addAgent(owner, { name: "Seen by all" });
    const [stranger, nobody] = [await visitorOf(service, await newUser(service)), newVisitor(service)];
    const ways = async (one: Visitor) => {
      const { links } = await one.open(`/agents/${id}`);
      return ["Settings", "Sign up"].filter((name) => links.some(({ text }) => text === name));
    };
    expect([await ways(visitor), await ways(stranger), await ways(nobody)]).toEqual([
      ["Settings"],
      ["Settings"],
      ["Sign up"],
    ]);
  });
});

describe("webhooks, by the pages alone", () => {
  it("are made once however often the form is sent, with a secret that is shown once and signs", async () => {
    const receiver = await startAgent();
    const form = await visitor.open("/settings/webhooks");
    const none = await visitor.send(form, "Make the webhook", { url: receiver.url, "run.completed": UNTICKED });
    expect([none.status, Object.keys(none.wrong)]).toEqual([422, ["event_types"]]);
    const made = await visitor.send(none, "Make the webhook", { "run.failed": "true", description: "Ops" });
    const secret = /whsec_[\w-]+/.exec(made.alerts.join())?.[0] ?? "";
    const twice = await visitor.send(none, "Make the webhook", { "run.failed": "true", description: "Ops" });
    expect([twice.html.includes(secret), twice.alerts.join()]).toEqual([
      false,
      expect.stringContaining("first sending"),
    ]);
    const { items } = (await owner.call("GET", "/api/v1/webhooks")).body as unknown as { items: object[] };
    expect(items).toEqual([
      expect.objectContaining({ event_types: ["run.failed"], description: "Ops", has_secret: true }),
    ]);

    const page = await visitor.follow(made, "try it, and see what it delivers");
    const pinged = await visitor.send(page, "Send a ping now");
    expect(pinged.alerts).toEqual(["Sent: succeeded: status 200"]);
    const [seen] = receiver.seen.slice(-1);
    const header = (name: string) => String(seen?.headers[name]);
    const signed = [header("x-service-timestamp"), header("x-service-delivery"), String(seen?.body)].join(".");
    const mac = createHmac("sha256", secret).update(signed).digest("hex");
    expect(header("x-service-signature-v2")).toBe(`v2=${mac}`);

    const before = receiver.seen.length;
    const again = await visitor.send(pinged, "Deliver again");
    await service.settled();
    expect(receiver.seen.length).toBe(before + 1);
    const rotated = await visitor.send(again, "Replace the secret");
    expect(rotated.alerts.join()).toMatch(/whsec_/);
    expect(rotated.html).not.toContain(secret);
    const off = await visitor.send(rotated, "Save", { is_active: UNTICKED });
    expect(off.forms.some(({ buttons }) => "Send a ping now" in buttons)).toBe(false);
    const stranger = await visitorOf(service, await newUser(service));
    expect((await stranger.open(page.url.pathname)).status).toBe(404);
    const gone = await visitor.send(off, "Delete the webhook");
    const more = await visitor.send(off, "Delete the webhook");
    for (const { url, html } of [gone, more])
      expect([url.pathname, html.includes("There is no webhook yet")]).toEqual(["/settings/webhooks", true]);
    await receiver.stop();
  });

  it("change what was changed alone: one that was turned off meanwhile stays off", async () => {
    const { body } = await owner.call("POST", "/api/v1/webhooks", { url: endpoint.url, event_types: ["run.failed"] });
    const [path, at] = [`/settings/webhooks/${body.id}`, `/api/v1/webhooks/${body.id}`];
    const form = await visitor.open(path);
    await service.sql("update webhooks set is_active = false, disabled_reason = 'receiver_gone' where id = $1", [
      body.id,
    ]);
    await owner.call("PATCH", at, { event_types: ["run.failed", "run.completed"] });
    const saved = await visitor.send(form, "Save", { description: "Ops" });
    expect(saved.alerts).toEqual(["Saved."]);
    expect(saved.html).toContain("It was turned off: the receiver said that it is gone.");
    expect((await owner.call("GET", at)).body).toMatchObject({
      url: endpoint.url,
      description: "Ops",
      event_types: ["run.failed", "run.completed"],
      is_active: false,
    });
    await visitor.send(saved, "Save", { is_active: "true" });
    expect((await owner.call("GET", at)).body).toMatchObject({ is_active: true, disabled_reason: null });
    expect((await visitor.open(`${path}?page=1e30`)).status).toBe(200);
    await owner.call("DELETE", at);
  });
});

describe("schedules, by the pages alone", () => {
  it("tell in words and times when they fire, and are made, paused, taken up and deleted", async () => {
    await addSuite(service, 1, { slug: "nightly" });
    const form = await visitor.open("/settings/schedules");
    const wrong = await visitor.send(form, "Only show the next times", { cron: "* * * * *" });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["cron"]]);
    const zone = await visitor.send(wrong, "Make the schedule", { cron: "0 6 * * 1-5", timezone: "Mars/Base" });
    expect([zone.status, Object.keys(zone.wrong)]).toEqual([422, ["timezone"]]);
    const offset = await visitor.send(zone, "Only show the next times", { timezone: "+05:30" });
    expect([offset.status, Object.keys(offset.wrong)], "no schedule takes it").toEqual([422, ["timezone"]]);
    const shown = await visitor.send(offset, "Only show the next times", { timezone: "Asia/Kolkata" });
    expect(shown.alerts.join()).toContain("at 06:00 on Monday to Friday");
    const times = [...shown.html.matchAll(/datetime="([^"]+)"/g)].map(([, time = ""]) => new Date(time));
    // India has one offset all year: six in the morning there is half past midnight in UTC.
    expect(times.map((time) => time.toISOString().slice(11, 16))).toEqual(Array.from({ length: 5 }, () => "00:30"));
    expect(times.every((time) => time.getUTCDay() >= 1 && time.getUTCDay() <= 5)).toBe(true);
    const made = await visitor.send(shown, "Make the schedule");
    expect(made.alerts).toEqual(["The schedule is made."]);
    await visitor.send(shown, "Make the schedule");
    const all = async () =>
      (await owner.call("GET", "/api/v1/screening-schedules")).body as unknown as { items: object[] };
    expect((await all()).items).toEqual([expect.objectContaining({ timezone: "Asia/Kolkata", is_active: true })]);
    // A viewer of the workspace sees it, and no button that would be refused.
    const viewer = await newUser(service);
    const team = await addTeam(service, owner, { viewer });
    const scheduled = "id in (select agent_id from screening_schedules)";
    await service.sql(`update agents set team_id = $1 where ${scheduled}`, [team]);
    const theirs = await (await visitorOf(service, viewer)).open("/settings/schedules");
    expect(theirs.html).toContain("Asia/Kolkata");
    expect(theirs.forms.flatMap(({ buttons }) => Object.keys(buttons))).not.toContain("Pause");
    await service.sql(`update agents set team_id = null where ${scheduled}`);
    // What it screens, and when it last did, by its own clocks, with the way there.
    const [last] = await service.sql<{ session: string; suite: string }>(
      `update screening_schedules set last_run_at = '2026-11-02T00:30:00Z', last_screening_session_id =
       (select id from screening_sessions limit 1) returning last_screening_session_id as session,
       (select name from suites where id = suite_id) as suite`,
    );
    const later = await visitor.open("/settings/schedules");
    expect(later.links).toContainEqual({ text: "2 Nov 2026, 06:00", href: `/sessions/${last?.session}` });
    expect(later.html).toContain(`</bdi></a>: ${last?.suite}</td>`);
    const paused = await visitor.send(made, "Pause");
    expect((await all()).items).toEqual([expect.objectContaining({ is_active: false, next_run_at: null })]);
    const active = await visitor.send(paused, "Go on");
    expect((await all()).items).toEqual([expect.objectContaining({ is_active: true })]);
    const gone = await visitor.send(active, "Delete");
    expect(gone.html).toContain("Nothing is scheduled");
  });
});
