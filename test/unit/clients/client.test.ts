import { describe, expect, it } from "vitest";
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

describe("a redirect", () => {
  /** What a client with a key is given where each address answers as `places` says, and to which addresses it sent the key. */
  async function redirected(places: Record<string, Response>, ask: (one: typeof client) => Promise<unknown>) {
    const sent: string[] = [];
    const one = createClient({
      baseUrl: "https://service.test",
      key: "ask_secret",
      fetch: async (request) => {
        expect([request.redirect, request.headers.get("authorization")]).toEqual(["manual", "Bearer ask_secret"]);
        sent.push(`${request.method} ${request.url}`);
        return places[request.url]?.clone() ?? Response.json({ email: "me@service.test" });
      },
      sleep: async () => undefined,
    });
    const found = await ask(one).catch((error: unknown) => error);
    return { found, sent };
  }
  const to = (status: number, location: string) => new Response(null, { status, headers: { location } });
  const ME = "https://service.test/api/v1/auth/me";
  const me = (one: typeof client) => given(one.GET("/api/v1/auth/me"));

  it.each([
    ["https", "http://service.test/api/v1/auth/me"],
    ["host", "https://www.service.test/api/v1/auth/me"],
    ["port", "//service.test:8443/"],
  ])("to another %s is not followed, and tells the address", async (_what, location) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { found, sent } = await redirected({ [ME]: to(status, location) }, me);
      const { origin } = new URL(location, ME);
      expect(found).toMatchObject({ name: "ServiceError", status, code: "unknown" });
      expect(String(found)).toContain(`https://service.test redirects to ${origin}, where no key is sent`);
      expect(sent).toEqual([`GET ${ME}`]);
    }
  });

  it("of the service's own is followed with the key where it is a read, and at most twenty times", async () => {
    const moved = { [ME]: to(301, "/moved"), "https://service.test/moved": to(307, "there") };
    const { found, sent } = await redirected(moved, me);
    expect([found, sent.at(-1)]).toEqual([{ email: "me@service.test" }, "GET https://service.test/there"]);
    const round = await redirected({ [ME]: to(302, ME) }, me);
    expect([round.sent.length, String(round.found)]).toEqual([21, expect.stringContaining(`redirects to ${ME}`)]);
    const lost = await redirected({ [ME]: to(302, "http://[") }, me);
    expect(String(lost.found)).toContain("redirects elsewhere");
  });

  it("of a change is not followed, where it might be carried out as another one", async () => {
    const path = "https://service.test/api/v1/api-keys";
    const make = (one: typeof client) => given(one.POST("/api/v1/api-keys", { body: { name: "n" } }));
    const { found, sent } = await redirected({ [path]: to(301, "/elsewhere") }, make);
    expect(sent).toEqual([`POST ${path}`]);
    expect(found).toMatchObject({
      status: 301,
      message: expect.stringContaining("redirects to https://service.test/"),
    });
  });

  it("is the caller's where the request says what to do at one", async () => {
    const seen: string[] = [];
    const fetch = async ({ redirect }: Request) => {
      seen.push(redirect);
      return to(302, "https://codehost.test/authorize");
    };
    const one = createClient({ baseUrl: "https://service.test", fetch });
    const { response } = await one.GET("/api/v1/auth/me", { redirect: "manual" });
    expect([response.status, seen]).toEqual([302, ["manual"]]);
  });
});
