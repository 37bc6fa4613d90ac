import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { readPromises } from "../../../functions/document/promises.ts";
import { PLACES } from "../../../functions/places.static.ts";
import { PROBLEMS } from "../../../shared/platform/problem.ts";
import { type Caller, caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let anonymous: Caller;

beforeAll(async () => {
  service = await startService();
  anonymous = caller(service);
});

afterAll(() => service.stop());

const text = async (path: string): Promise<string> => (await anonymous.call("GET", path)).text;

/** The operations of the OpenAPI document, by tag. */
async function operations() {
  const Document = z.object({
    paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string(), tags: z.array(z.string()) }))),
  });
  const { paths } = Document.parse((await anonymous.call("GET", "/openapi.json")).body);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, tags }]) => ({
      call: `${method.toUpperCase()} ${path}`,
      operationId,
      page: `/docs/${tags[0]?.toLowerCase().replaceAll(" ", "-")}`,
    })),
  );
}

describe("the reference", () => {
  it("is a page that loads nothing from elsewhere, and that nobody frames", async () => {
    const page = await anonymous.call("GET", "/docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it("has a section for every operation, which the overview leads to", async () => {
    const overview = await text("/docs");
    const all = await operations();
    expect(all.length).toBe(PLACES.length);
    const pages = new Map(
      await Promise.all([...new Set(all.map(({ page }) => page))].map(async (one) => [one, await text(one)] as const)),
    );
    for (const { operationId, page, call } of all) {
      expect(overview, call).toContain(`href="${page}#${operationId}"`);
      expect(pages.get(page), call).toContain(`id="${operationId}"`);
    }
    for (const [path, page] of pages) expect([path, page.length < 400_000]).toEqual([path, true]);
  });

  it("lists what came since the released interface, each new operation leading to its section", async () => {
    const released = readPromises(
      readFileSync(new URL("../../../functions/document/released/interface.txt", import.meta.url), "utf8"),
    );
    const fresh = (await operations()).filter(({ call }) => !released.has(call));
    const page = await text("/docs/changelog");
    expect(await text("/docs")).toContain('href="/docs/changelog"');
    const listed = [...page.matchAll(/<li><a href="([^"]+)"><code>([^<]+)<\/code>/g)].map(
      ([, href = "", call = ""]) => `${call} at ${href}`,
    );
    expect(listed.toSorted()).toEqual(
      fresh.map(({ call, page: at, operationId }) => `${call} at ${at}#${operationId}`).toSorted(),
    );
  });

  it("shows a request that can be pasted: what it shows for a registration registers", async () => {
    const page = await text("/docs/accounts");
    const section = page.slice(page.indexOf('id="register"'));
    const [, curl = ""] = /<pre><code>([^]*?)<\/code>/.exec(section) ?? [];
    const [, json = ""] = /-d &#39;([^]*?)&#39;/.exec(curl) ?? [];
    expect(curl).toContain(`${service.url}/api/v1/auth/register`);
    const body = JSON.parse(json.replaceAll("&quot;", '"'));
    expect(Object.keys(body).toSorted()).toEqual(["email", "password"]);
  });

  it.each([
    ["telemetry", "Authorization: Bearer $OTLP_TOKEN"],
    ["runs", "Authorization: Bearer $RUN_TOKEN"],
    ["accounts", "service_refresh=$REFRESH_TOKEN"],
  ])("shows in a request of %s what tells who calls: %s", async (tag, shown) => {
    expect(await text(`/docs/${tag}`)).toContain(shown);
  });
});

describe("the type of a problem", () => {
  it("is the address of what explains it: each code has an anchor there, and what to do", async () => {
    const { type, code } = (await anonymous.call("GET", "/nowhere")).body;
    expect(type).toBe(`${service.url}/docs/problems#${code}`);
    const page = await text(new URL(type).pathname);
    for (const [one, [status, title]] of Object.entries(PROBLEMS)) {
      const [, row = ""] = page.split(`id="${one}"`);
      expect(row.slice(0, row.indexOf("</tr>")), one).toMatch(
        new RegExp(`>${status}<.*${title.replaceAll("'", "&#39;")}\\..*[.]<`, "s"),
      );
    }
  });
});

describe("a search in the reference", () => {
  it.each([
    ["batch", ["createBatch"], ["listSuites"]],
    ["POST  runs/BATCH", ["createBatch"], ["listRuns"]],
    ["nothing has these words", [], ["createBatch"]],
  ])("finds operations that have every word: %s", async (words, found, others) => {
    const page = await text(`/docs?q=${encodeURIComponent(words)}`);
    for (const id of found) expect(page).toContain(`#${id}"`);
    for (const id of others) expect(page).not.toContain(`#${id}"`);
  });

  it("shows what was asked as text", async () => {
    expect(await text(`/docs?q=${encodeURIComponent('<b title="x">')}`)).not.toContain("<b title");
  });
});
