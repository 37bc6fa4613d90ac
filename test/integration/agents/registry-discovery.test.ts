import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  ask,
  at,
  clearWeb,
  fetched,
  fetchFromWeb,
  manifestOf,
  PATH,
  redirect,
  serve,
  web,
} from "./registry-support.ts";
import { unique } from "../runs/support.ts";

const CARD_PATH = "/.well-known/agent-card.json";

let service: TestService;
let user: User;

beforeAll(async () => {
  const resolver = { query: () => Promise.resolve(["93.184.216.34"]) };
  service = await startService({ overrides: { fetch: fetchFromWeb, resolver } });
  user = await newUser(service, { plan: "pro" });
});

beforeEach(clearWeb);

afterAll(() => service.stop());

interface Discovery {
  manifest_url: string;
  kind: string;
  valid: boolean;
  errors: { pointer: string; code: string; message: string }[];
  manifest: Record<string, unknown> | null;
}

const discover = (url: string): Promise<Answer<Discovery>> => ask(user, "discover", url);
const register = (url: string) => ask(user, "register", url);
const cardOf = (host: string, fields: object = {}) => ({
  name: unique("Card"),
  url: at(host, "/a2a"),
  skills: [{ id: "s", name: "Skill" }],
  protocolVersion: "0.3.0",
  ...fields,
});

describe("a manifest is found", () => {
  it("at its place, whatever path the URL has, and what an agent is not made of is no matter", async () => {
    const manifest = manifestOf("api.found.example.com", {
      description: "Adds.",
      agent_protocol: "openai_chat",
      provider_url: "https://example.com/",
      version: "2.1",
      declared_configuration: { model: "m" },
    });
    serve(at("found.example.com"), { ...manifest, contact: "somebody", endpoints: [1] });
    const { status, body } = await discover("https://found.example.com/docs?x=1");
    expect([status, body]).toEqual([
      200,
      {
        url: "https://found.example.com/docs?x=1",
        manifest_url: at("found.example.com"),
        kind: "native",
        valid: true,
        errors: [],
        manifest,
      },
    ]);
  });

  it("with null for what it has not", async () => {
    const manifest = manifestOf("null.example.com");
    serve(at("null.example.com"), { ...manifest, description: null, agent_protocol: null, version: null });
    expect((await discover("https://null.example.com")).body).toMatchObject({ kind: "native", valid: true, manifest });
  });

  it.each<[string, string, object, string]>([
    ["at our place, as early servers have it", PATH, { url: at("card.example.com", "/a2a") }, "/a2a"],
    ["at A2A's place", CARD_PATH, { protocolVersion: "0.2.6" }, "/a2a"],
    ["without a version", CARD_PATH, { protocolVersion: undefined }, "/a2a"],
    [
      "with JSON-RPC as another transport",
      CARD_PATH,
      {
        preferredTransport: "GRPC",
        additionalInterfaces: [{ url: at("card.example.com", "/rpc"), transport: "JSONRPC" }],
      },
      "/rpc",
    ],
    [
      "with null for what it has not",
      CARD_PATH,
      {
        additionalInterfaces: null,
        preferredTransport: null,
        description: null,
        endpoint: null,
        protocolVersion: null,
      },
      "/a2a",
    ],
    [
      "of A2A 1.0 with an interface of 0.3",
      CARD_PATH,
      {
        url: undefined,
        protocolVersion: undefined,
        supportedInterfaces: [
          { url: at("card.example.com", "/v1"), protocolBinding: "JSONRPC", protocolVersion: "1.0" },
          { url: at("card.example.com", "/v03"), protocolBinding: "JSONRPC", protocolVersion: "0.3" },
        ],
      },
      "/v03",
    ],
    [
      "of 0.3 with interfaces that name no version",
      CARD_PATH,
      { supportedInterfaces: [{ url: "grpc.example.com:443", protocolBinding: "GRPC" }] },
      "/a2a",
    ],
    [
      "with interfaces of another form",
      CARD_PATH,
      {
        supportedInterfaces: [{ url: at("card.example.com", "/mcp"), transport: "JSONRPC" }],
        additionalInterfaces: [{ url: at("card.example.com", "/rest"), protocolBinding: "HTTP+JSON" }],
      },
      "/a2a",
    ],
    [
      "whose interfaces are of the version of the whole card",
      CARD_PATH,
      {
        url: undefined,
        protocolVersion: "0.3.0",
        supportedInterfaces: [{ url: at("card.example.com", "/v03"), protocolBinding: "JSONRPC" }],
      },
      "/v03",
    ],
  ])("as an agent card %s", async (_which, path, fields, endpoint) => {
    serve(at("card.example.com", path), cardOf("card.example.com", { version: "1.0.0", ...fields }));
    const { body } = await discover("https://card.example.com");
    expect(body).toMatchObject({ kind: "a2a", valid: true, manifest_url: at("card.example.com", path) });
    expect(body.manifest).toMatchObject({
      endpoint: at("card.example.com", endpoint),
      agent_protocol: "a2a",
      version: "1.0.0",
    });
  });

  it("as an agent card of A2A 1.0 alone", async () => {
    const url = at("card.example.com", "/v1");
    const supportedInterfaces = [
      { url: at("card.example.com", "/grpc"), protocolBinding: "GRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ];
    const card = { ...cardOf("card.example.com"), url: undefined, protocolVersion: undefined, supportedInterfaces };
    serve(at("card.example.com", CARD_PATH), card);
    const { body } = await discover("https://card.example.com");
    expect(body.manifest).toMatchObject({ endpoint: url, agent_protocol: "a2a_1" });
  });

  it.each([undefined, "1.0"])(
    "as an agent card of A2A 1.0 beside the URL of its website, version %s",
    async (version) => {
      const url = at("card.example.com", "/message/send");
      const supportedInterfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      const fields = { url: "https://card.example.com", protocolVersion: version, supportedInterfaces };
      serve(at("card.example.com", CARD_PATH), cardOf("card.example.com", fields));
      const { body } = await discover("https://card.example.com");
      expect(body.manifest).toMatchObject({ endpoint: url, agent_protocol: "a2a_1" });
    },
  );

  it.each<[string, object]>([
    ["a website", { name: "Fyn", url: "https://two.example.com", capabilities: [], interfaces: { mcp: {} } }],
    ["a plugin", { schema_version: "v1", name_for_human: "D", api: null, auth: { type: "none" } }],
  ])("at the second place where the first tells of %s", async (_what, file) => {
    serve(at("two.example.com"), file);
    const manifest_url = at("two.example.com", CARD_PATH);
    serve(manifest_url, cardOf("two.example.com"));
    expect((await discover("https://two.example.com/")).body).toMatchObject({ kind: "a2a", valid: true, manifest_url });
  });

  it("at the second place where the first is a page for people", async () => {
    web.set(at("spa.example.com"), () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }));
    serve(at("spa.example.com", CARD_PATH), cardOf("spa.example.com"));
    expect((await discover("https://spa.example.com/")).body).toMatchObject({ kind: "a2a", valid: true });
  });

  it("over three redirects within its registrable domain", async () => {
    redirect(at("example.com"), "https://www.example.com/1");
    redirect("https://www.example.com/1", "/2");
    redirect("https://www.example.com/2", "https://static.example.com/agent.json");
    serve("https://static.example.com/agent.json", manifestOf("example.com"));
    expect((await discover("https://example.com/")).body).toMatchObject({
      valid: true,
      manifest_url: at("example.com"),
    });
  });
});

describe("a manifest is not taken, and why is said,", () => {
  const bomb = () => {
    const chunk = new TextEncoder().encode("x".repeat(16 * 1024));
    return new Response(new ReadableStream({ pull: (body) => body.enqueue(chunk) }));
  };
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const text = (body: string) => () => new Response(body);

  it.each<[string, string, () => Response]>([
    ["that is not there", "not_fetched", () => new Response(null, { status: 404 })],
    ["that answers 500", "not_fetched", () => Response.json({ name: "A" }, { status: 500 })],
    ["that has no end", "not_fetched", bomb],
    [
      "whose connection breaks",
      "not_fetched",
      () => new Response(new ReadableStream({ pull: (body) => body.error() })),
    ],
    ["that redirects nowhere", "not_fetched", () => new Response(null, { status: 302 })],
    [
      "that redirects to itself for ever",
      "not_fetched",
      () => new Response(null, { status: 302, headers: { location: "" } }),
    ],
    [
      "that redirects to another domain",
      "foreign_domain",
      () => new Response(null, { status: 302, headers: { location: "https://other.example.org/agent.json" } }),
    ],
    ["that is a page", "not_json", text("<!doctype html><title>Welcome</title>")],
    ["that is empty", "not_json", text("")],
    ["that is no object", "not_json", text("[]")],
    ["that is null", "not_json", text("null")],
    ["that is nested too deeply", "not_json", text(deep(17))],
  ])("%s", async (_which, code, answer) => {
    web.set(at("bad.example.com"), answer);
    web.set(at("bad.example.com", CARD_PATH), answer);
    const { status, body } = await discover("https://bad.example.com/");
    expect([status, body]).toMatchObject([200, { valid: false, manifest: null }]);
    expect(body.errors.map((error) => error.code)).toEqual([code, code]);
    expect(body.errors.map(({ message }) => message.length > 20)).toEqual([true, true]);
    expect(fetched.filter((url) => new URL(url).hostname !== "bad.example.com")).toEqual([]);
    expect(fetched.length).toBeLessThanOrEqual(8);
    expect(await register("https://bad.example.com/")).toMatchObject({
      status: 422,
      body: { code: "manifest_invalid" },
    });
  });

  const native = (fields: object) => ({ name: "A", endpoint: at("bad.example.com", "/run"), ...fields });
  const card = (fields: object) => cardOf("bad.example.com", fields);
  it.each<[string, unknown, string, string]>([
    ["without a name", native({ name: undefined }), "/name", "invalid_field"],
    ["with an empty name", native({ name: " " }), "/name", "invalid_field"],
    ["with a number for a description", native({ description: 1 }), "/description", "invalid_field"],
    ["without an endpoint", { name: "A" }, "/endpoint", "invalid_field"],
    ["with an unknown protocol", native({ agent_protocol: "smtp" }), "/agent_protocol", "invalid_field"],
    [
      "with a list for a configuration",
      native({ declared_configuration: [] }),
      "/declared_configuration",
      "invalid_field",
    ],
    ["with text that can't be stored", native({ name: "a\u0000" }), "", "invalid_field"],
    ["with a lone surrogate below", native({ declared_configuration: { a: "\ud800" } }), "", "invalid_field"],
    ["with a private endpoint", native({ endpoint: "https://10.0.0.1/" }), "/endpoint", "endpoint_not_allowed"],
    [
      "with the service as its provider",
      native({ provider_url: "http://a.example.com" }),
      "/provider_url",
      "endpoint_not_allowed",
    ],
    ["with an endpoint elsewhere", native({ endpoint: "https://victim.example.org/" }), "/endpoint", "foreign_domain"],
    ["with an endpoint on loopback", native({ endpoint: "http://127.0.0.1:9/" }), "/endpoint", "foreign_domain"],
    ["of A2A 2.0 alone", card({ protocolVersion: "2.0" }), "/protocolVersion", "invalid_field"],
    ["of A2A without JSON-RPC", card({ preferredTransport: "GRPC" }), "/url", "invalid_field"],
    ["of A2A without skills", card({ skills: undefined }), "/skills", "invalid_field"],
    ["of A2A with an endpoint elsewhere", card({ url: "https://victim.example.org/" }), "/url", "foreign_domain"],
  ])("%s", async (_which, manifest, pointer, code) => {
    serve(at("bad.example.com"), manifest);
    const { body } = await discover("https://bad.example.com/");
    expect(body).toMatchObject({ valid: false, manifest: null });
    expect(body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
    expect(await register("https://bad.example.com/")).toMatchObject({
      status: 422,
      body: { code: "manifest_invalid" },
    });
  });

  it("with an endpoint of another customer of the same platform", async () => {
    serve(at("mine.github.io"), manifestOf("theirs.github.io"));
    expect((await discover("https://mine.github.io/")).body.errors).toMatchObject([{ code: "foreign_domain" }]);
  });

  it("that is longer than 64 KiB, by a byte", async () => {
    const manifest = JSON.stringify(manifestOf("bad.example.com"));
    const sizes = [64 * 1024, 64 * 1024 + 1];
    for (const size of sizes) web.set(at(`s${size}.example.com`), text(manifest.padEnd(size)));
    const found = await Promise.all(sizes.map((size) => discover(`https://s${size}.example.com/`)));
    expect(found.map(({ body }) => body.valid)).toEqual([true, false]);
  });

  it("and its content is not shown", async () => {
    web.set(at("bad.example.com"), () => Response.json({ name: "A", secret: "content" }));
    expect((await discover("https://bad.example.com/")).text).not.toContain("content");
  });

  it("as nothing of a URL that may not be called is", async () => {
    for (const path of ["discover", "register"] as const) {
      const answer = await ask(user, path, "https://10.0.0.1/");
      expect([answer.status, answer.body]).toMatchObject([
        422,
        { code: "endpoint_not_allowed", errors: [{ pointer: "/url" }] },
      ]);
    }
    expect(fetched).toEqual([]);
  });
});
