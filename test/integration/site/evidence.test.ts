import { gzipSync } from "node:zlib";
import { type Browser, type Page, type Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { integrate } from "../../../shared/transparency/integrate.ts";
import { hasBrowser, noteFaults, startBrowser } from "../../stack/browser.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor } from "../../stack/visitor.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, addRun, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";
import { addEntries } from "../transparency/support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let run: string;
let failed: string;

const grow = () => integrate(contextOf(service, () => new Date()));

beforeAll(async () => {
  [service, endpoint] = [await startService(), await startAgent()];
  suite = await addSuite(service, 1);
  owner = await newUser(service, { plan: "pro" });
  const agent = await addAgent(owner, { name: "Ada", endpoint: endpoint.url });
  run = await addRun(owner, agent, suite.tasks[0] ?? "");
  await service.settled();
  endpoint.answer = () => json(500, {});
  failed = await addRun(owner, agent, suite.tasks[0] ?? "");
  await service.settled();
  await addEntries(service, 300);
  await grow();
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

async function ownVisitor() {
  const visitor = newVisitor(service);
  await visitor.send(await visitor.open("/sign-in"), "Sign in", { email: owner.email, password: PASSWORD });
  return visitor;
}

describe("the page of a run", () => {
  it("shows its owner what was asked and answered, what happened, and the statement", async () => {
    const { status, html, headers, heading } = await (await ownVisitor()).open(`/runs/${run}`);
    expect([status, heading, headers.get("cache-control")]).toEqual([200, "Run of Ada", "no-store"]);
    for (const shown of ["<strong>passed, 100% right</strong>", `<pre dir="auto">${KEY}</pre>`, "response received"])
      expect(html).toContain(shown);
    expect(html).toMatch(/Signed, and entry <?\d+|Signed, and entry \d+ of the log/);
    expect(html).toContain("ScreeningRunCredential");
    expect(html).toMatch(/<script type="module" src="\/verify\.js\?v=[0-9a-f]{12}">/);
  });

  it("leads to all bytes by way of the session, which is over where the page was left open", async () => {
    const visitor = await ownVisitor();
    const all = await visitor.follow(
      await visitor.open(`/runs/${run}`),
      "All bytes, with the salts of their commitments",
    );
    expect([all.status, all.url.pathname]).toEqual([200, `/api/v1/runs/${run}/output`]);
    const path = `/runs/${run}/files/output`;
    const over = await fetch(service.url + path, { redirect: "manual", headers: { cookie: "service_session=over" } });
    expect(over.headers.get("location")).toContain(`next=${encodeURIComponent(path)}`);
  });

  it("shows strangers the same run without the answer, and says who may see it", async () => {
    const { status, html } = await newVisitor(service).open(`/runs/${run}`);
    expect(status).toBe(200);
    expect(html).toContain("Only the agent&#39;s owner and the members of its workspace may see the answer");
    expect(html).not.toContain(`<pre dir="auto">${KEY}</pre>`);
    expect(html).toContain("ScreeningRunCredential");
  });

  it("shows everybody what was asked, with its input, where that is public: a fixed task, and the sample of a canary", async () => {
    const [task] = await service.sql<{ id: string; prompt: string; input: object }>(
      "select t.* from tasks t join suites s on s.id = t.suite_id where s.slug = 'core' and t.input is not null limit 1",
    );
    const agent = await addAgent(owner);
    const id = await addRun(owner, agent, task?.id ?? "");
    const [fixed = ""] = (await addSuite(service, 1)).tasks;
    await service.sql(`update tasks set input = '{"crates": 7}' where id = $1`, [fixed]);
    const other = await addRun(owner, agent, fixed);
    await service.settled();
    const page = async (of: string) => (await newVisitor(service).open(`/runs/${of}`)).html;
    const [member = "?"] = Object.keys(task?.input ?? {});
    expect(await page(id)).toContain("It was drawn for this run alone");
    expect(await page(id)).not.toContain(member);
    await service.sql("update runs set canary = true where id = $1", [id]);
    expect(await page(id)).toContain(member);
    expect(await page(other)).toContain("&quot;crates&quot;: 7");
  });

  it("says in words why a run failed, to everybody, and is not there where the run is not", async () => {
    const { html } = await newVisitor(service).open(`/runs/${failed}`);
    expect(html).toContain("The agent answered with an error instead of an answer.");
    expect(html).toContain("✕ response received</text>");
    expect((await newVisitor(service).open("/runs/01938e7a-0000-7000-8000-000000000003")).status).toBe(404);
    const other = await newUser(service);
    const hidden = await addAgent(other, { endpoint: endpoint.url, is_public: false });
    const secret = await addRun(other, hidden, suite.tasks[0] ?? "");
    await service.settled();
    expect((await newVisitor(service).open(`/runs/${secret}`)).status).toBe(404);
  });
});

describe("the log and the page that verifies, without script", () => {
  it("say how large the log is, what entered it last, and how to pin its key", async () => {
    const visitor = newVisitor(service);
    const { html } = await visitor.open("/log");
    const size = Number(/<strong>(\d+)<\/strong>\s+entries/.exec(html)?.[1]);
    const checkpoint = await (await fetch(`${service.url}/log/checkpoint`)).text();
    expect(size).toBe(Number(checkpoint.split("\n")[1]));
    expect(html).toContain((await (await fetch(`${service.url}/log/key`)).text()).trim());
    const places = ([page = ""]: string[]) =>
      [...page.matchAll(/<td class="number">(\d+)<\/td><td class="wide">/g)].map(([, at]) => Number(at));
    expect(places(html.split("Epochs<"))).toEqual(Array.from({ length: 50 }, (_, at) => size - 1 - at));
    const older = await visitor.follow(await visitor.open("/log"), "Older");
    expect(places(older.html.split("Epochs<"))).toEqual(Array.from({ length: 50 }, (_, at) => size - 51 - at));
    const first = await visitor.open("/log?before=9");
    expect(first.html).toMatch(/A run&#39;s statement was signed|The key|committed to the secret/);
    const [open, sealed] = ["", ',"sealed":true'].map((more) => `{"epoch":"2026-11-22","kind":"epoch"${more}}`);
    await service.sql("insert into log_entries (entry) select convert_to(e, 'UTF8') from unnest($1::text[]) e", [
      [open, sealed],
    ]);
    await grow();
    const epochs = (await visitor.open("/log")).html.match(/The service committed to the secret[^]*?<\/td>/g) ?? [];
    expect(epochs.map((entry) => entry.includes("never"))).toEqual([true, false]);
  });

  it("say what they need, and how it is done by command line; the script is small and kept for good", async () => {
    const page = await newVisitor(service).open("/verify");
    const [, pasted = ""] = /<noscript>([^]*?)<\/noscript>/.exec(page.html) ?? [];
    expect(pasted).toContain(`curl ${service.url}/.well-known/jwks.json > keys.json`.replace(">", "&gt;"));
    expect(pasted).toContain("agent-screening verify proof.txt --jwks keys.json --log-key service.vkey");
    expect((await (await ownVisitor()).open(`/runs/${run}`)).html).toContain(
      `curl &quot;${service.url}/api/v1/runs/${run}/evidence?format=tlog-proof&quot;`,
    );
    expect(page.html).toMatch(/<form id="verify" hidden/);
    const script = /src="(\/verify\.js\?v=\w+)"/.exec(page.html)?.[1] ?? "";
    const answer = await fetch(service.url + script);
    const text = await answer.text();
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect(gzipSync(text).length).toBeLessThanOrEqual(10 * 1024);
  });
});

describe.skipIf(!hasBrowser)("verification in a browser", () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    const context = await browser.newContext();
    await context.addCookies([{ name: "service_session", value: owner.token, url: service.url }]);
    // The tests cut answers off, and change them.
    noteFaults(context, faults, /ERR_|status of/);
    page = await context.newPage();
  });
  afterAll(() => browser?.close());

  /** The steps that the page shows, each with its outcome, and the verdict. */
  async function shown(): Promise<{ verdict: string; steps: Record<string, string> }> {
    await page.locator("#verdict li").first().waitFor();
    const items = await page.locator("#verdict li").all();
    const steps = await Promise.all(
      items.map(async (item) => [
        (await item.getAttribute("data-step")) ?? "",
        (await item.getAttribute("data-outcome")) ?? "",
      ]),
    );
    return { verdict: (await page.locator("#verdict .notice").textContent()) ?? "", steps: Object.fromEntries(steps) };
  }

  async function verified(): Promise<Awaited<ReturnType<typeof shown>>> {
    await page.goto(`${service.url}/runs/${run}`);
    await page.getByRole("button", { name: "Verify in this browser" }).click();
    return shown();
  }

  const passed = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, "passed"]));

  it("goes every step of a run by itself, and never asks the service for a verdict", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const { verdict, steps } = await verified();
    const names =
      "sources form key signature content subject term request response proof checkpoint inclusion consistency";
    expect([verdict, steps]).toEqual([
      expect.stringMatching(/^Verified: every step holds\.About .*, urn:uuid:.*\.Run .*: passed\.$/),
      passed(names),
    ]);
    expect(asked).toEqual(expect.arrayContaining(["/.well-known/jwks.json", "/log/key", "/log/checkpoint"]));
    expect(asked.filter((path) => path.includes("/evidence/verify"))).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("refuses what was tampered with on the way, and names the step", async () => {
    const evidence = `**/api/v1/runs/${run}/evidence`;
    const tampered = async (route: Route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { jws: string };
      const [header = "", payload = "", signature = ""] = body.jws.split(".");
      const better = Buffer.from(payload, "base64url")
        .toString()
        .replace('"correctness":"1.0000"', '"correctness":"0.9000"');
      const jws = [header, Buffer.from(better).toString("base64url"), signature].join(".");
      await route.fulfill({ response: answer, json: { ...body, jws } });
    };
    await page.route(evidence, tampered);
    const { verdict, steps } = await verified();
    expect(steps).toEqual({ ...passed("sources form key"), signature: "failed" });
    expect(verdict).toMatch(/^Refused\. This does not hold: The signature is by that key/);
    await page.unroute(evidence);

    const output = `**/api/v1/runs/${run}/output`;
    await page.route(output, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { request: object };
      await route.fulfill({ response: answer, json: { ...body, response: body.request } });
    });
    expect((await verified()).steps["response"]).toBe("failed");
    await page.unroute(output);
  });

  it.each<[string, (route: Route) => Promise<void>]>([
    ["is limited", (route) => route.fulfill({ status: 429 })],
    ["is cut off", (route) => route.abort()],
  ])("refuses nothing where its caller %s meanwhile, and says that it is open", async (_what, meet) => {
    await page.route("**/log/checkpoint", meet);
    const { verdict, steps } = await verified();
    expect(steps["consistency"]).toBe("failed");
    expect(verdict).toMatch(/^Not verified yet\. This could not be looked at: The log as it is now .* try again/);
    expect(await page.locator("#verdict li").last().textContent()).toMatch(/^○ Open: The log as it is now/);
    await page.unroute("**/log/checkpoint");
  });

  it("works offline once it is loaded, with a proof that was kept, and leaves open what it can't see", async () => {
    const proof = await (await fetch(`${service.url}/api/v1/runs/${run}/evidence?format=tlog-proof`)).text();
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    await page.context().setOffline(true);
    await page.getByLabel("What to verify").fill(proof);
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    const { verdict, steps } = await shown();
    const names = "kind form key signature content term proof checkpoint inclusion";
    expect(steps).toEqual({ ...passed(names), consistency: "skipped" });
    expect(verdict).toMatch(/^Verified, as far as was looked at\./);
    await page.context().setOffline(false);

    // The log goes on, and a file that was kept is still part of it.
    await addEntries(service, 5);
    await grow();
    await page.reload();
    await page.getByText("from now on this page works offline").waitFor();
    const file = { name: "kept.proof", mimeType: "text/plain", buffer: Buffer.from(proof) };
    await page.getByLabel("Or a file").setInputFiles(file);
    expect((await shown()).steps).toEqual(passed(`${names} consistency`));
    expect(faults).toEqual([]);
  });

  it("shows of two verifications the later one, whichever ends first, and none of what was there before", async () => {
    const proof = await (await fetch(`${service.url}/api/v1/runs/${run}/evidence?format=tlog-proof`)).text();
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/log/checkpoint", async (route) => {
      await held;
      await route.continue();
    });
    const check = async (text: string) => {
      await page.getByLabel("What to verify").fill(text);
      await page.getByRole("button", { name: "Verify", exact: true }).click();
    };
    await check("not a statement");
    await page.getByText("Refused. This does not hold").waitFor();
    const asked = page.waitForRequest("**/log/checkpoint");
    await check(proof);
    await asked;
    expect(await page.locator("#verdict").textContent()).toBe("It is being checked.");
    await check("no statement either");
    await page.getByText("Refused. This does not hold").waitFor();
    const answered = page.waitForResponse("**/log/checkpoint");
    release();
    await (await answered).finished();
    await page.waitForTimeout(300);
    expect((await shown()).verdict).toMatch(/^Refused\. This does not hold/);
    await page.unroute("**/log/checkpoint");
  });

  it("takes back what it found once another text or key stands there, and takes the same file again", async () => {
    const proof = await (await fetch(`${service.url}/api/v1/runs/${run}/evidence?format=tlog-proof`)).text();
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    await page.getByText("The keys that it is checked with").click();
    const file = { name: "kept.proof", mimeType: "text/plain", buffer: Buffer.from(proof) };
    for (const field of ["#given", "#jwks", "#log_key"]) {
      await page.getByLabel("Or a file").setInputFiles(file);
      expect((await shown()).verdict).toMatch(/^Verified: every step holds\./);
      await page.locator(field).press("End");
      await page.keyboard.type(" ");
      expect(await page.locator("#verdict").textContent(), field).toBe("");
      expect(await page.getByLabel("Or a file").inputValue(), field).toBe("");
    }
  });

  it.each([
    ["UTF-16", "\ufeff", (text: string) => Buffer.from(text, "utf16le")],
    ["UTF-16 of the other order", "\ufeff", (text: string) => Buffer.from(text, "utf16le").swap16()],
    ["UTF-8 with a mark", "\ufeff", (text: string) => Buffer.from(text)],
  ])("takes a file in %s, as programs on Windows write it", async (_what, mark, written) => {
    const answer = await (await fetch(`${service.url}/api/v1/runs/${run}/evidence`)).text();
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    const file = { name: "kept.json", mimeType: "application/json", buffer: written(`${mark}${answer}\r\n`) };
    await page.getByLabel("Or a file").setInputFiles(file);
    expect((await shown()).verdict).toMatch(/^Verified: every step holds\./);
  });

  it("leaves a text that is dragged to its field, and takes a file that is dropped", async () => {
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    const taken = (what: string) =>
      page.evaluate<boolean>(`(() => {
        const dataTransfer = new DataTransfer();
        ${what};
        const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
        return !document.querySelector("#given").dispatchEvent(event);
      })()`);
    expect(await taken("dataTransfer.setData('text/plain', 'a statement')")).toBe(false);
    expect(await taken("dataTransfer.items.add(new File(['a file'], 'kept.jws'))")).toBe(true);
    await page.getByText("Refused. This does not hold").waitFor();
    expect(await page.getByLabel("What to verify").inputValue()).toBe("a file");
  });

  it("does not say of a checkpoint that it is verified where the key of the log was not given", async () => {
    await page.goto(`${service.url}/verify`);
    await page.getByText("from now on this page works offline").waitFor();
    await page.getByText("The keys that it is checked with").click();
    await page.locator("#log_key").fill("");
    const madeUp = "nowhere.example/log\n7\nAAAA\n\n\u2014 nowhere.example/log AAAA\n";
    await page.getByLabel("What to verify").fill(madeUp);
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    const { verdict, steps } = await shown();
    expect([verdict, steps]).toEqual(["Nothing could be looked at.", { kind: "passed", checkpoint: "skipped" }]);
  });
});
