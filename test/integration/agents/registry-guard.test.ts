import { afterEach, describe, expect, it, vi } from "vitest";
import { checkUrls } from "../../../shared/agents/connection.ts";
import { Problem } from "../../../shared/platform/problem.ts";
import { outboundPolicy } from "../../../shared/platform/outbound/policy.ts";
import { checkUrl } from "../../../shared/platform/outbound/url.ts";
import { discover, look } from "../../../shared/registry/discover.ts";
import { probe } from "../../../shared/runs/probe.ts";
import { testConnection } from "../../../shared/runs/test-connection.ts";
import { HOSTILE_URLS } from "../../unit/outbound/hostile-urls.ts";
import { ENV, KEYS } from "../../unit/runs/protocols-support.ts";

const env = { ...ENV, ENVIRONMENT: "production" as const };
const HOST = "registry.example.com";
const MANIFEST = `https://${HOST}/.well-known/agent.json`;
const NOW = new Date();
const PUBLIC = ["93.184.216.34"];

/** The world outside in production: one host answers, nobody else is to be asked. */
function outside(answer: () => Response = () => new Response(null, { status: 404 }), addresses = PUBLIC) {
  const asked: string[] = [];
  const fetched: string[] = [];
  return {
    asked,
    fetched,
    env,
    now: () => NOW,
    keys: async () => KEYS,
    resolver: {
      async query(hostname: string) {
        asked.push(hostname);
        return hostname === HOST ? PUBLIC : addresses;
      },
    },
    fetch: async (input: string | URL | Request) => {
      const { url } = new Request(input);
      fetched.push(url);
      return new URL(url).hostname === HOST ? answer() : new Response(null, { status: 404 });
    },
  };
}

type World = ReturnType<typeof outside>;

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "taken",
    (error: unknown) => (error instanceof Problem ? error.code : error),
  );
const errorsOf = async (found: ReturnType<typeof look>) => (await found).errors[0]?.code;
const redirect = (location: string) => () => {
  const answer = new Response(null, { status: 302 });
  // What a header can't carry never arrives.
  if (/^[\x20-\x7e]*$/.test(location)) answer.headers.set("location", location);
  return answer;
};
const manifest = (fields: object) => () => Response.json({ name: "A", endpoint: `https://${HOST}/run`, ...fields });

/** Every way by which a URL of a stranger comes in: what is done with it, and what the host answers meanwhile. */
const DOORS: [name: string, enter: (url: string) => { world: World; verdict: (world: World) => Promise<unknown> }][] = [
  ...(["endpoint", "provider_url", "manifest_url"] as const).map((field): (typeof DOORS)[number] => [
    `an agent's ${field}`,
    (url) => ({ world: outside(), verdict: (world) => refusal(checkUrls(world, { [field]: url })) }),
  ]),
  [
    "test-connection",
    (endpoint) => ({
      world: outside(),
      verdict: (world) => refusal(testConnection(world, { endpoint, agent_protocol: "native" })),
    }),
  ],
  ["discover", (url) => ({ world: outside(), verdict: (world) => refusal(discover(world, url)) })],
  ["the re-check", (url) => ({ world: outside(), verdict: (world) => errorsOf(look(world, url)) })],
  [
    "a manifest's endpoint",
    (endpoint) => ({ world: outside(manifest({ endpoint })), verdict: (world) => errorsOf(look(world, MANIFEST)) }),
  ],
  [
    "a manifest's provider_url",
    (provider_url) => ({
      world: outside(manifest({ provider_url })),
      verdict: (world) => errorsOf(look(world, MANIFEST)),
    }),
  ],
];

describe.each(DOORS)("a URL that may not be called, as %s", (_name, enter) => {
  const own = (urls: readonly string[]) => urls.filter((url) => !url.includes(HOST));

  it("is refused by its text, in every form of it: nobody is asked for its addresses, nothing is sent", async () => {
    for (const url of Object.values(HOSTILE_URLS).flat()) {
      const { world, verdict } = enter(url);
      const { code, fetched } = { code: await verdict(world), fetched: world.fetched.length > 0 };
      // Text that no field of a manifest may hold is refused before it is looked at as a URL.
      const unfit = fetched && (url.length > 2048 || url.includes("\0"));
      expect(code, url).toBe(unfit ? "invalid_field" : "endpoint_not_allowed");
      expect([own(world.asked), own(world.fetched)], url).toEqual([[], []]);
    }
  });

  it.each([["10.0.0.1"], ["169.254.169.254"], ["::ffff:127.0.0.1"], ["fd00::1"]])(
    "is refused by its address %s, before a packet goes there",
    async (address) => {
      const url = "https://inside.example.com/";
      const { world, verdict } = enter(url);
      world.resolver.query = async (hostname) => (hostname === HOST ? PUBLIC : [...PUBLIC, address]);
      expect(await verdict(world)).toBe("endpoint_not_allowed");
      expect(own(world.fetched)).toEqual([]);
    },
  );
});

describe("a redirect of a manifest", () => {
  it("leads to no URL that may not be called, in whatever form", async () => {
    const policy = outboundPolicy(env);
    for (const url of Object.values(HOSTILE_URLS).flat()) {
      const world = outside(redirect(url));
      expect(await look(world, MANIFEST), url).toMatchObject({ valid: false, manifest: null });
      expect(
        world.fetched.filter((sent) => !checkUrl(sent, policy).ok || !sent.includes("example.com")),
        url,
      ).toEqual([]);
    }
  });

  it.each(["https://10.0.0.1/", "http://registry.example.com/", "https://registry.example.com:22/"])(
    "to %s ends there",
    async (url) => {
      const world = outside(redirect(url));
      expect((await look(world, MANIFEST)).valid).toBe(false);
      expect(world.fetched).toEqual([MANIFEST]);
    },
  );

  it("to a name with a private address ends there", async () => {
    const world = outside(redirect("https://inside.example.com/agent.json"), ["10.0.0.1"]);
    expect(await errorsOf(look(world, MANIFEST))).toBe("endpoint_not_allowed");
    expect(world.fetched).toEqual([MANIFEST]);
  });
});

describe("a host that never ends its answer", () => {
  afterEach(() => void vi.useRealTimers());

  const drips = () => new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) }));
  const TARGET = { endpoint: `https://${HOST}/run`, agent_protocol: "native" as const, auth_header: null };

  it.each<[string, number, (world: World) => Promise<unknown>]>([
    ["a probe", 10_000, async (world) => (await probe(world, TARGET)).failure_code],
    ["a look at a manifest", 5000, async (world) => (await look(world, MANIFEST)).errors[0]?.message],
  ])("is left by %s after %i ms", async (_name, ms, work) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sent = Promise.withResolvers<void>();
    let ended = false;
    const world = outside(() => {
      sent.resolve();
      return drips();
    });
    const result = work(world).finally(() => (ended = true));
    await sent.promise;
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatch(/within 5000 ms|^agent_timeout$/);
  });

  it("holds discover up once: the second place has what time the first left", async () => {
    const world = { ...outside(drips), now: () => new Date() };
    const { errors } = await discover(world, `https://${HOST}/`, 100);
    const within = [/within (?:100|9\d) ms/, /within \d ms/];
    expect(errors.map(({ message }, place) => within[place]?.test(message))).toEqual([true, true]);
  });
});
