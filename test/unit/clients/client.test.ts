import { expect, it } from "vitest";
import { createClient } from "../../../clients/typescript/src/client.ts";
import { given } from "../../../clients/typescript/src/problem.ts";

const page = new Response("<!doctype html><h1>Sign in to the network</h1>", {
  headers: { "content-type": "text/html" },
});
const client = createClient({ baseUrl: "http://service.test", fetch: async () => page.clone() });

it.each([
  ["one answer", async () => given(client.GET("/api/v1/auth/me"))],
  ["a list", async () => client.each("/api/v1/runs").next()],
  ["a file", async () => client.lines("/api/v1/runs/export.jsonl").next()],
])("a page in place of %s is no answer of the service, and says so", async (_what, asked) => {
  await expect(asked()).rejects.toMatchObject({
    name: "ServiceError",
    status: 200,
    code: "unknown",
    message: expect.stringContaining("answered 200 with text/html, which is not the service's answer"),
  });
});

it("a page that is asked for is given", async () => {
  expect(await given(client.GET("/", { parseAs: "text" }))).toContain("<h1>");
});
