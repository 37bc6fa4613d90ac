import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite } from "../runs/support.ts";

let service: TestService;
let [owner, guest]: User[] = [];
let [hers, his]: Visitor[] = [];

beforeAll(async () => {
  service = await startService();
  [owner, guest] = [await newUser(service, { plan: "team", verified: true }), await newUser(service)];
  [hers, his] = await Promise.all([visitorOf(service, owner), visitorOf(service, guest)]);
});
afterAll(() => service.stop());

/** Somebody who is there once the tests run. */
function there<T>(one: T | undefined): T {
  if (one === undefined) throw new Error("the service did not start");
  return one;
}

describe("a workspace, by the pages alone", () => {
  it("is made once, joined by the mail's link, and its people are given roles and removed", async () => {
    const [visitor, other, mate] = [there(hers), there(his), there(guest)];
    const form = await visitor.open("/workspaces");
    const empty = await visitor.send(form, "Make the workspace", { name: " " });
    expect([empty.status, Object.keys(empty.wrong)]).toEqual([422, ["name"]]);
    const made = await visitor.send(empty, "Make the workspace", { name: "<b>Lab</b>" });
    const again = await visitor.send(empty, "Make the workspace", { name: "<b>Lab</b>" });
    expect([made.heading, again.url.pathname]).toEqual(["<b>Lab</b>", made.url.pathname]);
    expect((await other.open(made.url.pathname)).status).toBe(404);

    const wrong = await visitor.send(made, "Invite", { email: "nobody", role: "runner" });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["email"]]);
    const invited = await visitor.send(wrong, "Invite", { email: mate.email, role: "runner" });
    expect(invited.alerts).toEqual([`The invitation is on its way to ${mate.email}.`]);
    await service.settled();
    const link = /\/accept-invitation\?token=[\w%.-]+/.exec(service.mailbox.list(mate.email)[0]?.text ?? "")?.[0] ?? "";
    const joined = await other.send(await other.open(link), "Join the workspace");
    expect(joined.heading).toBe("Welcome to <b>Lab</b>");
    const twice = await visitor.send(invited, "Invite", { email: mate.email, role: "runner" });
    expect([twice.status, Object.keys(twice.wrong)]).toEqual([409, ["email"]]);
    const inside = await other.open(made.url.pathname);
    expect(inside.forms.map(({ buttons }) => Object.keys(buttons)).flat()).toEqual(["Sign out", "Leave"]);

    const agent = await addAgent(there(owner), { name: "Mover" });
    const promoted = await visitor.send(await visitor.open(made.url.pathname), "Set", { role: "admin" });
    expect((await other.open("/workspaces")).html).toContain("admin");
    const moved = await visitor.send(promoted, "Move it here", { agent_id: agent });
    expect(moved.alerts).toEqual(["Done."]);
    expect((await other.open(`/agents/${agent}/edit`)).heading).toBe("Change Mover");
    const kept = await visitor.send(moved, "Delete the workspace");
    expect([kept.status, kept.alerts.length]).toEqual([409, 1]);
    const long = "W".repeat(300);
    const refused = await visitor.send(kept, "Rename", { name: long });
    expect([refused.status, Object.keys(refused.wrong)]).toEqual([422, ["name"]]);
    expect(refused.forms.find(({ buttons }) => "Rename" in buttons)?.fields["name"]).toBe(long);
    const named = await visitor.send(refused, "Rename", { name: "Works" });
    expect(named.heading).toBe("Works");
    await visitor.send(named, "Remove");
    expect((await other.open(made.url.pathname)).status).toBe(404);
  });

  it("shows each of its members the buttons that work for them", async () => {
    const [other, mate, head] = [there(his), there(guest), await newUser(service, { plan: "team", verified: true })];
    const team = (await head.call("POST", "/api/v1/teams", { name: "Roles" })).body.id;
    const agent = await addAgent(head, { name: "Shared", team_id: team });
    const weights = { correctness: 1 };
    const card = await head.call("POST", "/api/v1/scorecards", { name: "Ours", weights, team_id: team });
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, mate.id]);
    const buttons = async (path: string) =>
      (await other.open(path)).forms.flatMap((form) => Object.keys(form.buttons)).filter((one) => one !== "Sign out");
    const seen = async (role: string) => {
      await service.sql("update team_members set role = $1 where team_id = $2 and user_id = $3", [role, team, mate.id]);
      const [edit, screen, scorecard] = [
        `/agents/${agent}/edit`,
        `/agents/${agent}/screen`,
        `/scorecards/${card.body.id}`,
      ];
      return [
        (await buttons(edit)).includes("Save"),
        await buttons(screen),
        (await buttons(scorecard)).includes("Save"),
      ];
    };
    expect(await seen("viewer")).toEqual([false, [], false]);
    expect(await buttons(`/agents/${agent}/edit`)).toEqual([]);
    expect(await seen("runner")).toEqual([false, ["Start the screening"], false]);
    expect(await seen("editor")).toEqual([true, ["Start the screening"], true]);
  });

  it("shows a screening to its members with the buttons that work for them, while its agent is in use", async () => {
    const [other, mate, head] = [there(his), there(guest), await newUser(service, { plan: "team", verified: true })];
    const team = (await head.call("POST", "/api/v1/teams", { name: "Screens" })).body.id;
    const agent_id = await addAgent(head, { endpoint: "http://127.0.0.1:9/agent", team_id: team });
    const { tasks: task_ids } = await addSuite(service, 2);
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, mate.id]);
    const start = async () =>
      (await head.call("POST", "/api/v1/runs/batch", { agent_id, task_ids })).body[0].screening_session_id;
    const buttons = async (session: string, role: string) => {
      await service.sql("update team_members set role = $1 where team_id = $2 and user_id = $3", [role, team, mate.id]);
      const { forms } = await other.open(`/sessions/${session}`);
      return forms.flatMap((form) => Object.keys(form.buttons)).filter((one) => one !== "Sign out");
    };
    const over = await start();
    await service.settled();
    service.faults.set({ service: "qstash", mode: "hang" });
    const waiting = await start();
    const [again, cancel] = [["Run these 2 tasks again"], ["Cancel what is queued"]];
    for (const [role, works] of [
      ["viewer", false],
      ["member", false],
      ["runner", true],
      ["editor", true],
    ] as const) {
      expect([role, await buttons(over, role)]).toEqual([role, works ? again : []]);
      expect([role, await buttons(waiting, role)]).toEqual([role, works ? cancel : []]);
    }
    // What was paid for by a certification is cancelled by those alone who may buy one.
    await service.sql("update screening_sessions set trigger = 'certification' where id = $1", [waiting]);
    expect([await buttons(waiting, "editor"), await buttons(waiting, "admin")]).toEqual([[], cancel]);
    service.faults.set({ service: "qstash", mode: "none" });
    await service.settled();
    await head.call("DELETE", `/api/v1/agents/${agent_id}`);
    expect(await buttons(over, "admin")).toEqual([]);
  });

  it("goes on to show somebody who left it the screenings that they had asked for before", async () => {
    const [mate, head] = [await newUser(service), await newUser(service, { plan: "team", verified: true })];
    const one = await visitorOf(service, mate);
    const team = (await head.call("POST", "/api/v1/teams", { name: "Left" })).body.id;
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [team, mate.id]);
    const agent_id = await addAgent(mate, { name: "Given away", is_public: false });
    const { id: suite_id } = await addSuite(service, 2);
    const [run] = (await mate.call("POST", "/api/v1/runs/batch", { agent_id, suite_id })).body;
    await service.settled();
    await mate.call("POST", `/api/v1/agents/${agent_id}/transfer-to-workspace`, { team_id: team });
    await mate.call("DELETE", `/api/v1/teams/${team}/members/${mate.id}`);
    expect((await mate.call("GET", `/api/v1/agents/${agent_id}`)).status).toBe(404);
    const page = await one.open(`/runs/${run.id}`);
    const session = await one.follow(page, "what it is part of");
    expect([session.status, session.heading]).toEqual([200, "Screening of an agent"]);
    expect(session.html).toContain("Done: 2 of 2 runs have ended");
    expect(session.html).not.toContain("Given away");
    for (const { links } of [page, session]) expect(links.map(({ href }) => href)).not.toContain(`/agents/${agent_id}`);
  });

  it("shows a webhook of theirs to those who can't change it, without the buttons that do", async () => {
    const [other, mate, head] = [there(his), there(guest), await newUser(service, { plan: "team", verified: true })];
    const team = (await head.call("POST", "/api/v1/teams", { name: "Hooks" })).body.id;
    const agent_id = await addAgent(head, { name: "Told of", team_id: team });
    const body = { url: "http://127.0.0.1:9/hook", event_types: ["run.completed"], description: "Nightly", agent_id };
    const hook = (await head.call("POST", "/api/v1/webhooks", body)).body.id;
    expect((await head.call("POST", `/api/v1/webhooks/${hook}/test`, {})).status).toBe(200);
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, mate.id]);
    const seen = async (role: string) => {
      await service.sql("update team_members set role = $1 where team_id = $2 and user_id = $3", [role, team, mate.id]);
      const page = await other.open(`/settings/webhooks/${hook}`);
      expect(page.html).toMatch(/http:\/\/127\.0\.0\.1:9\/hook[^]*Nightly[^]*ping/);
      return page.forms.flatMap(({ buttons }) => Object.keys(buttons)).filter((one) => one !== "Sign out");
    };
    for (const role of ["viewer", "member", "runner"]) expect(await seen(role), role).toEqual([]);
    const all = ["Save", "Send a ping now", "Deliver again", "Make a secret", "Delete the webhook"];
    for (const role of ["editor", "admin"]) expect(await seen(role), role).toEqual(all);
  });

  it("is left and deleted by buttons that may be pressed twice, and so is what is in it", async () => {
    const [visitor, other, mate] = [there(hers), there(his), there(guest)];
    const made = await visitor.send(await visitor.open("/workspaces"), "Make the workspace", { name: "Brief" });
    const team = made.url.pathname.split("/")[2];
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, mate.id]);
    const weights = { correctness: 1 };
    const card = await there(owner).call("POST", "/api/v1/scorecards", { name: "Once", weights, team_id: team });
    for (const [who, path, button, to] of [
      [other, made.url.pathname, "Leave", "/workspaces"],
      [visitor, `/scorecards/${card.body.id}`, "Delete the scorecard", "/scorecards"],
      [visitor, made.url.pathname, "Delete the workspace", "/workspaces"],
    ] as const) {
      const form = await who.open(path);
      for (const sent of [await who.send(form, button), await who.send(form, button)])
        expect([button, sent.status, sent.url.pathname, sent.alerts]).toEqual([button, 200, to, []]);
    }
  });

  it("has keys of its own, which its admins make and end", async () => {
    const [visitor, other] = [there(hers), there(his)];
    const made = await visitor.send(await visitor.open("/workspaces"), "Make the workspace", { name: "Nightly" });
    expect(made.html).toContain(`${made.url.pathname}/api-keys`);
    const at = `${made.url.pathname}/api-keys`;
    expect((await other.open(at)).status).toBe(404);
    const wrong = await visitor.send(await visitor.open(at), "Make the key", { name: " " });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["name"]]);
    const shown = await visitor.send(wrong, "Make the key", { name: "CI", scope: "chosen", teams: "read" });
    const key = /ask_[\w-]+(?=<\/textarea>)/.exec(shown.html)?.[0] ?? "";
    const teams = () => fetch(`${service.url}/api/v1/teams`, { headers: { "x-api-key": key } });
    expect(await (await teams()).json()).toMatchObject({ total: 1, items: [{ name: "Nightly" }] });
    await visitor.send(shown, "Revoke");
    expect((await teams()).status).toBe(401);
    expect((await visitor.open("/settings/api-keys")).html).not.toContain("CI");
  });

  it("hands out no more seats than there are to invitations that are sent at once", async () => {
    const visitor = there(hers);
    const made = await visitor.send(await visitor.open("/workspaces"), "Make the workspace", { name: "Full" });
    const pages = await Promise.all(
      Array.from({ length: 6 }, async (_none, index) => {
        const one = visitor.beside();
        const form = await one.open(made.url.pathname);
        return one.send(form, "Invite", { email: `seat-${index}@example.test` });
      }),
    );
    const statuses = pages.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 200, 402, 402]);
    expect((await visitor.open(made.url.pathname)).html.match(/seat-\d@example\.test/g)?.length).toBeGreaterThan(3);
  });
});

describe("scorecards, by the pages alone", () => {
  it("keep the weights that are left as they stand, to the last digit, though they are shown rounded", async () => {
    const visitor = there(hers);
    const given = { correctness: 20_000, latency: 9_999, cost: 1 };
    const { body } = await there(owner).call("POST", "/api/v1/scorecards", { name: "Exact", weights: given });
    const kept = async () => (await there(owner).call("GET", `/api/v1/scorecards/${body.id}`)).body;
    const before = await kept();
    const form = await visitor.open(`/scorecards/${body.id}`);
    const shown = form.forms.find(({ buttons }) => "Save" in buttons)?.fields;
    expect(shown).toMatchObject({ correctness: "66.7", latency: "33.3", cost: "0" });
    const renamed = await visitor.send(form, "Save", { name: "Exactly" });
    expect([renamed.alerts, await kept()]).toEqual([["Saved."], { ...before, name: "Exactly" }]);
    const taken = await visitor.send(await visitor.open("/scorecards"), "Make the scorecard", { name: "exactly" });
    expect([taken.status, Object.keys(taken.wrong)]).toEqual([409, ["name"]]);
    // Meanwhile somebody else renames it.
    await there(owner).call("PATCH", `/api/v1/scorecards/${body.id}`, { name: "Elsewhere" });
    await visitor.send(renamed, "Save", { robustness: "100" });
    const after = await kept();
    expect([after.name, after.weights.robustness]).toEqual(["Elsewhere", 0.5]);
    for (const axis of ["correctness", "latency", "cost"])
      expect(after.weights[axis]).toBeCloseTo(before.weights[axis] / 2, 12);
  });

  it("rank the board by weights of the visitor's own, which are told at their fields where they are wrong", async () => {
    const visitor = there(hers);
    const agent = await addAgent(there(owner), { name: "Ranked" });
    const tasks = await there(owner).call("GET", "/api/v1/tasks?page_size=1");
    const items = (tasks.body as unknown as { items: { id: string }[] }).items;
    await there(owner).call("POST", "/api/v1/runs", { agent_id: agent, task_id: items[0]?.id });
    await service.settled();
    const form = await visitor.open("/scorecards");
    expect(form.html).toContain("Balanced Screen");
    const typed = { name: "Cheap", correctness: "1", latency: "0", cost: "-1", tool_efficiency: "", robustness: "" };
    const wrong = await visitor.send(form, "Make the scorecard", typed);
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["cost"]]);
    const made = await visitor.send(wrong, "Make the scorecard", { cost: "3", correctness: "1" });
    expect([made.heading, made.html.includes("Ranked")]).toEqual(["Cheap", true]);
    const fields = made.forms.find(({ buttons }) => "Save" in buttons)?.fields;
    expect(fields).toMatchObject({ cost: "75", correctness: "25", latency: "0" });
    const none = await visitor.send(made, "Save", { cost: "0", correctness: "0" });
    expect([none.status, none.alerts.length]).toEqual([422, 1]);
    const saved = await visitor.send(none, "Save", { robustness: "2.5" });
    expect(saved.alerts).toEqual(["Saved."]);
    expect((await there(his).open(made.url.pathname)).status).toBe(404);
    const gone = await visitor.send(saved, "Delete the scorecard");
    expect([gone.url.pathname, gone.html.includes("Cheap")]).toEqual(["/scorecards", false]);
  });
});
