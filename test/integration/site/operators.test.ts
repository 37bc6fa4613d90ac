import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { newSubmission } from "../catalogue/submissions-support.ts";
import { addAgent, addSuite, type TestSuite, unique } from "../runs/support.ts";

let service: TestService;
let suite: TestSuite;
let operator: Visitor;
let submitter: User;

beforeAll(async () => {
  service = await startService();
  suite = await addSuite(service, 2, { slug: "operated" });
  submitter = await newUser(service, { plan: "pro" });
  operator = await visitorOf(service, await newUser(service, { email: "admin@example.test", verified: true }));
});
afterAll(() => service.stop());

const alertOf = ({ alerts }: Page) => alerts.join(" ");
const said = ({ status, alerts }: Page) => [status, ...alerts];

describe("the pages of operators", () => {
  it("are not there for anybody else, signed in or not, to read or to send forms to", async () => {
    const agent = await addAgent(submitter, { name: "Theirs", connection_mode: "mock" });
    const others = [await visitorOf(service, submitter), newVisitor(service)];
    const proposal = await newSubmission(submitter);
    for (const [path, button, typed] of [
      ["/admin", "Look for them", { q: "Theirs" }],
      [`/admin/proposals?id=${proposal}`, "Approve it", {}],
      ["/admin/suites", "Make the suite", { name: "Stranger's", slug: "strangers" }],
      ["/admin/suites/operated", "Add the task", {}],
    ] as const) {
      const form = await operator.open(path);
      // Made by themselves: one that was shown to an operator is refused as such, whatever it is for.
      for (const { sent } of form.forms) {
        const own = sent.findIndex(([name]) => name === "_account");
        if (own >= 0) sent.splice(own, 1);
      }
      for (const visitor of others) {
        // As it is shown to them where there is nothing.
        const nothing = await visitor.open("/nothing/at/all");
        const pages = [await visitor.open(path), await visitor.send(form, button, typed)];
        expect(pages.map(({ status, html }) => [status, html])).toEqual([
          [404, nothing.html],
          [404, nothing.html],
        ]);
      }
    }
    await submitter.call("POST", `/api/v1/task-submissions/${proposal}/withdraw`);
    expect((await submitter.call("GET", `/api/v1/agents/${agent}`)).body.is_public).toBe(true);
  });

  it("lead to what waits: a proposal is read whole, made a task once by two at the same time, and told", async () => {
    const title = unique("Flagged");
    const id = await newSubmission(submitter, { title, prompt: "Look at https://a.example and answer: 42" });
    const overview = await operator.follow(await operator.open("/home"), "Pages for operators");
    const queue = await operator.follow(overview, "1 to review");
    const shown = await operator.follow(queue, title);
    for (const text of ["an address of a site is in it", "the key may stand in what is asked", "https://a.example"])
      expect(shown.html).toContain(text);
    const slow = await operator.send(shown, "Approve it", { suite_id: suite.id, time_limit_ms: "5" });
    expect([slow.status, Object.keys(slow.wrong)]).toEqual([422, ["time_limit_ms"]]);
    const form = slow.forms.find(({ buttons }) => "Approve it" in buttons)?.fields;
    expect(form).toMatchObject({ suite_id: suite.id, time_limit_ms: "5" });
    const both = await Promise.all(
      [operator, operator.beside()].map((one) => one.send(slow, "Approve it", { time_limit_ms: "9000" })),
    );
    expect(both.map(said)).toEqual([
      [200, `${title} is approved.`],
      [200, `${title} is approved.`],
    ]);
    const made = await service.sql("select suite_id, time_limit_ms from tasks where title = $1", [title]);
    expect(made).toEqual([{ suite_id: suite.id, time_limit_ms: 9000 }]);
    const late = await operator.send(slow, "Reject it", { reason: "Too easy" });
    expect(said(late)).toEqual([409, expect.stringContaining("already approved, and stays so")]);
    const approved = await operator.open("/admin/proposals?status=approved");
    expect((await operator.follow(approved, title)).links.map(({ text }) => text)).toContain("a task");
    expect((await submitter.call("GET", `/api/v1/task-submissions/mine`)).body.items[0].id).toBe(id);
  });

  it("close a proposal with a reason, which can't be left out", async () => {
    const title = unique("Plain");
    await newSubmission(submitter, { title });
    const shown = await operator.follow(await operator.open("/admin/proposals"), title);
    const bare = await operator.send(shown, "Reject it", { reason: " " });
    expect([bare.status, Object.keys(bare.wrong)]).toEqual([422, ["reason"]]);
    expect(said(await operator.send(bare, "Reject it", { reason: "Too easy" }))).toEqual([
      200,
      `${title} is rejected.`,
    ]);
    const [mine] = (await submitter.call("GET", "/api/v1/task-submissions/mine")).body.items;
    expect([mine.status, mine.rejection_reason]).toEqual(["rejected", "Too easy"]);
  });

  it("make a suite, add a task to it, retire the task after asking once more, and rotate the suite once", async () => {
    const list = await operator.open("/admin/suites");
    const bad = await operator.send(list, "Make the suite", { name: "Fresh", slug: "Not so" });
    expect([bad.status, Object.keys(bad.wrong)]).toEqual([422, ["slug"]]);
    const fresh = await operator.send(bad, "Make the suite", { slug: "fresh" });
    expect([fresh.url.pathname, fresh.heading]).toEqual(["/admin/suites/fresh", "Fresh"]);

    const broken = await operator.send(fresh, "Add the task", { task: "{" });
    expect([broken.status, Object.keys(broken.wrong)]).toEqual([422, ["task"]]);
    const keyless = JSON.stringify({ title: "No key", domain: "math", prompt: "?", grader: { type: "exact" } });
    expect(alertOf(await operator.send(fresh, "Add the task", { task: keyless }))).toContain("expected_output");
    const added = await operator.send(fresh, "Add the task");
    expect(said(added)).toEqual([200, "Six times seven is added."]);
    await operator.send(fresh, "Add the task");
    const sure = await operator.follow(added, "Retire");
    expect(await service.sql("select is_active from tasks where title = 'Six times seven'")).toEqual([
      { is_active: true },
    ]);
    expect(said(await operator.send(sure, "Retire it for good"))).toEqual([200, "The task is retired."]);
    expect(said(await operator.send(sure, "Retire it for good"))).toEqual([200, "The task was retired before."]);

    const rotated = await operator.send(await operator.open("/admin/suites/operated"), "Make it version 2");
    expect(said(rotated)).toEqual([200, "It is at version 2, with 3 tasks."]);
    expect(rotated.forms.map(({ buttons }) => Object.keys(buttons)).flat()).toContain("Make it version 3");
  });

  it("take agents off the board by a part of their names, and say which", async () => {
    const name = unique("Spam");
    const agent = await addAgent(submitter, { name, connection_mode: "mock" });
    const page = await operator.open("/admin");
    const isPublic = async () => (await submitter.call("GET", `/api/v1/agents/${agent}`)).body.is_public;
    const found = await operator.send(page, "Look for them", { q: name.toUpperCase() });
    expect(found.html).toContain("1 public agent is found by");
    expect([found.links.some(({ text }) => text === name), await isPublic()]).toEqual([true, true]);
    const done = await operator.send(found, "Make them private");
    expect(said(done)).toEqual([200, expect.stringContaining(`1 agent is private now: ${name}`)]);
    expect(await isPublic()).toBe(false);
    const none = await operator.send(done, "Look for them", { q: name });
    expect(none.forms.flatMap(({ buttons }) => Object.keys(buttons))).not.toContain("Make them private");
    const empty = await operator.send(page, "Look for them", { q: "" });
    expect([empty.status, Object.keys(empty.wrong)]).toEqual([422, ["q"]]);
  });
});
