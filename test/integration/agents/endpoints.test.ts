import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";
const PUBLIC = "93.184.216.34";
const ENDPOINT = "https://agent.example.com/run";
/** What the name service says of a name; any other is public. */
const ADDRESSES: Record<string, string[]> = {
  "private.example.com": ["10.0.0.1"],
  "mixed.example.com": [PUBLIC, "169.254.169.254"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "empty.example.com": [],
};
/** A name of which the name service says nothing definite. */
const FAILING = "failing.example.com";

let service: TestService;
let owner: User;
let asked: string[] = [];
let sent: string[] = [];

beforeAll(async () => {
  service = await startService({
    overrides: {
      fetch: (input, init) => {
        const url = input instanceof Request ? input.url : input.toString();
        // The mail about the registration goes out whenever the queue delivers it.
        if (new URL(url).pathname === "/emails") return fetch(input, init);
        sent.push(url);
        return Promise.reject(new Error("no packet may leave"));
      },
      resolver: {
        query(hostname) {
          asked.push(hostname);
          if (hostname === FAILING) return Promise.reject(new Error("SERVFAIL"));
          return Promise.resolve(ADDRESSES[hostname] ?? [PUBLIC]);
        },
      },
    },
  });
  owner = await newUser(service, { plan: "pro" });
});

afterAll(() => service.stop());

interface Body {
  id: string;
  code: string;
  errors: { pointer: string }[];
}

const create = (fields: object): Promise<Answer<Body>> =>
  caller(service, { authorization: `Bearer ${owner.token}` }).call("POST", AGENTS, { name: randomUUID(), ...fields });

describe("a URL that may not be called", () => {
  it.each([
    "http://agent.example.com/",
    "ftp://agent.example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "//agent.example.com",
    "agent.example.com",
    "https://10.0.0.1/",
    "https://167772161/",
    "https://0xa.1/",
    "https://[fd00::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://169.254.169.254/latest",
    "https://user:pw@agent.example.com/",
    "https://agent.example.com:22/",
    "https://agent.example.com/#x",
    "https://agent/",
    "https://agent.local/",
    "https://agent.example.com\\@evil.example.com/",
    "https://agent.example.com/\tx",
    "https:agent.example.com",
    "https://xn--/",
    "",
  ])("is refused by its text, before any question to the name service: %j", async (endpoint) => {
    [asked, sent] = [[], []];
    const answer = await create({ endpoint });
    expect([answer.status, answer.body.code]).toEqual([422, "endpoint_not_allowed"]);
    expect(answer.body.errors).toMatchObject([{ in: "body", pointer: "/endpoint", code: "endpoint_not_allowed" }]);
    expect([asked, sent]).toEqual([[], []]);
  });

  it.each(Object.keys(ADDRESSES))("is refused by the addresses of its name: %s", async (host) => {
    sent = [];
    for (const field of ["endpoint", "provider_url", "manifest_url"]) {
      const answer = await create({ [field]: `https://${host}/` });
      expect([answer.status, answer.body.code]).toEqual([422, "endpoint_not_allowed"]);
      expect(answer.body.errors[0]?.pointer).toBe(`/${field}`);
    }
    expect(sent).toEqual([]);
  });

  it("is not taken, and not refused, while the name service says nothing definite of its name", async () => {
    sent = [];
    for (const field of ["endpoint", "provider_url", "manifest_url"]) {
      const answer = await create({ [field]: `https://${FAILING}/` });
      expect([answer.status, answer.body.code]).toEqual([503, "dependency_unavailable"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(sent).toEqual([]);
  });

  it("is refused in a change too, and leaves the agent as it was", async () => {
    const { id } = (await create({ endpoint: ENDPOINT })).body;
    for (const endpoint of [`${service.url}/x`, "https://10.0.0.1/", "https://private.example.com/"]) {
      const answer = await owner.call("PATCH", `${AGENTS}/${id}`, { endpoint, description: "changed" });
      expect([answer.status, answer.body.code]).toEqual([422, "endpoint_not_allowed"]);
    }
    expect((await owner.call("GET", `${AGENTS}/${id}`)).body).toMatchObject({ endpoint: ENDPOINT, description: "" });
  });
});
