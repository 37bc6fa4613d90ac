import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readAsset } from "../../stack/assets.ts";
import { type Answer, type Caller, caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let anonymous: Caller;
let page: Answer;

beforeAll(async () => {
  service = await startService();
  anonymous = caller(service);
  page = await anonymous.call("GET", "/docs");
});

afterAll(() => service.stop());

it("is a page that loads nothing from elsewhere, and that nobody frames", () => {
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const policy = page.headers.get("content-security-policy") ?? "";
  const directives = new Map(policy.split("; ").map((one) => [one.split(" ", 1)[0], one.split(" ").slice(1)]));
  expect(directives.get("default-src")).toEqual(["'none'"]);
  expect(directives.get("frame-ancestors")).toEqual(["'none'"]);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.headers.get("referrer-policy")).not.toBeNull();
  expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  // The policy lets the page's own script run, and no other.
  const [, script = ""] = /<script>(.+)<\/script>/.exec(page.text) ?? [];
  expect(directives.get("script-src")).toEqual([
    "'self'",
    `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  ]);
});

it("comes with every file it names, as the package has them", async () => {
  const files = [...page.text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path = ""]) => path);
  const types = { css: "text/css", js: "text/javascript" };
  expect(files.map((path) => path.split(".").at(-1))).toEqual(["css", "js"]);
  for (const path of files) {
    const { status, headers, text } = await anonymous.call("GET", path);
    expect([status, headers.get("content-type")]).toEqual([
      200,
      `${types[path.endsWith("css") ? "css" : "js"]}; charset=utf-8`,
    ]);
    expect(text.length).toBeGreaterThan(100_000);
    expect(text).toBe((await readAsset(`http://service.test${path}`))?.toString());
  }
  expect((await anonymous.call("GET", "/docs/index.html")).status).toBe(404);
});
