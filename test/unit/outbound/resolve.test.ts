import { describe, expect, it } from "vitest";
import {
  assertPublic,
  type DnsResolver,
  dohResolver,
  isPublicAddress,
  remembering,
  ResolverFault,
} from "../../../shared/platform/outbound/resolve.ts";

const never = new AbortController().signal;
const answering = (answers: { A?: string[]; AAAA?: string[] }): DnsResolver => ({
  query: async (_hostname, type) => answers[type] ?? [],
});
const codeOf = async (resolver: DnsResolver) => {
  const verdict = await assertPublic("agent.example.com", resolver);
  return verdict.ok ? "ok" : verdict.code;
};

// The first and last address of each block of the IANA special-purpose registries, and each wrapping of IPv4.
const NOT_PUBLIC = [
  ["this network", "0.0.0.0", "0.255.255.255"],
  ["private 10/8", "10.0.0.0", "10.255.255.255"],
  ["private 172.16/12", "172.16.0.0", "172.31.255.255"],
  ["private 192.168/16", "192.168.0.0", "192.168.255.255"],
  ["carrier-grade NAT", "100.64.0.0", "100.127.255.255"],
  ["loopback", "127.0.0.0", "127.255.255.255"],
  ["link-local and cloud metadata", "169.254.0.0", "169.254.169.254", "169.254.255.255"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255"],
  ["documentation", "192.0.2.0", "198.51.100.255", "203.0.113.1"],
  ["6to4 relay", "192.88.99.1"],
  ["benchmarking", "198.18.0.0", "198.19.255.255"],
  ["multicast", "224.0.0.0", "239.255.255.255"],
  ["reserved and broadcast", "240.0.0.0", "255.255.255.255"],
  ["IPv6 unspecified and loopback", "::", "::1"],
  ["IPv4-mapped", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1"],
  ["IPv4-compatible", "::10.0.0.1", "::8.8.8.8"],
  ["IPv4-translated", "::ffff:0:127.0.0.1"],
  ["NAT64", "64:ff9b::10.0.0.1", "64:ff9b::808:808", "64:ff9b:1::a00:1"],
  ["Teredo", "2001::1", "2001:0:4136:e378:8000:63bf:f5ff:fffe"],
  ["6to4", "2002:a00:1::", "2002:7f00:1::1", "2002:808:808::1"],
  ["IPv6 benchmarking", "2001:2::1"],
  ["ORCHID", "2001:10::1", "2001:20::1"],
  ["IPv6 documentation", "2001:db8::1", "3fff::1"],
  ["discard-only", "100::1"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1", "fdff::1", "fd00:ec2::254"],
  ["IPv6 link-local", "fe80::1", "febf::1", "fe80::1%eth0", "2606:4700:4700::1111%eth0"],
  ["site-local", "fec0::1"],
  ["IPv6 multicast", "ff02::1"],
  ["unassigned IPv6", "4000::1", "a000::1"],
  ["no address", "", "agent.example.com", "1.2.3", "010.0.0.1", "0x7f.0.0.1", "2130706433", "1.2.3.4 ", "[::1]"],
] as const;
const notPublic = NOT_PUBLIC.flatMap(([range, ...addresses]) => addresses.map((address) => [range, address] as const));

const PUBLIC = ["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255"];
const PUBLIC6 = ["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888", "2400:cb00::1"];

describe("an address", () => {
  it.each(notPublic)("is not public: %s %s", (_range, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([...PUBLIC, "172.32.0.0", "192.167.255.255", "223.255.255.255", ...PUBLIC6])("is public: %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("a name", () => {
  it("may be called when all its addresses of both types are public", async () => {
    expect(await codeOf(answering({ A: PUBLIC, AAAA: PUBLIC6 }))).toBe("ok");
    expect(await codeOf(answering({ A: ["1.1.1.1"] }))).toBe("ok");
    expect(await codeOf(answering({ AAAA: ["2606:4700:4700::1111"] }))).toBe("ok");
  });

  it.each(notPublic)("may not be called when one address among public ones is not: %s %s", async (_range, address) => {
    expect(await codeOf(answering({ A: [...PUBLIC, address], AAAA: PUBLIC6 }))).toBe("address_not_public");
    expect(await codeOf(answering({ A: PUBLIC, AAAA: [address, ...PUBLIC6] }))).toBe("address_not_public");
  });

  it("may not be called without an address", async () => {
    expect(await codeOf(answering({}))).toBe("name_not_resolved");
  });

  describe.each(["A", "AAAA"] as const)("whose %s query fails", (failing) => {
    const half = (addresses: string[]): DnsResolver => ({
      query: (_hostname, type) =>
        type === failing ? Promise.reject(new Error("SERVFAIL")) : Promise.resolve(addresses),
    });

    it.each([
      ["public addresses", ["1.1.1.1", "2606:4700:4700::1111"]],
      ["none", []],
    ])("is not known to be anybody's fault but ours beside %s of the other type", async (_what, addresses) => {
      await expect(codeOf(half(addresses))).rejects.toBeInstanceOf(ResolverFault);
    });

    it("may not be called where the other type has an address that is not public", async () => {
      expect(await codeOf(half(["1.1.1.1", "10.0.0.1"]))).toBe("address_not_public");
    });
  });

  it("is asked for both types at once", async () => {
    const asked: string[] = [];
    const both = Promise.withResolvers<string[]>();
    const waiting: DnsResolver = {
      query: (_hostname, type) => {
        asked.push(type);
        if (asked.length === 2) both.resolve(["1.1.1.1"]);
        return both.promise;
      },
    };
    expect(await codeOf(waiting)).toBe("ok");
    expect(asked).toEqual(["A", "AAAA"]);
  });
});

describe("remembering", () => {
  it("gives each question's last answer while the resolver fails, and no other", async () => {
    let answer: string[] | null = ["1.1.1.1"];
    const resolver = remembering({
      query: () => (answer === null ? Promise.reject(new Error("down")) : Promise.resolve(answer)),
    });
    const ask = (name: string, type: "A" | "AAAA" = "A") => resolver.query(name, type, never);
    expect(await ask("agent.example.com")).toEqual(["1.1.1.1"]);
    answer = null;
    expect(await ask("agent.example.com")).toEqual(["1.1.1.1"]);
    await expect(ask("agent.example.com", "AAAA")).rejects.toThrow("down");
    await expect(ask("other.example.com")).rejects.toThrow("down");
    answer = ["10.0.0.1"];
    expect(await ask("agent.example.com")).toEqual(["10.0.0.1"]);
  });
});

describe("dohResolver", () => {
  const cname = { name: "agent.example.com.", type: 5, TTL: 60, data: "edge.example.net." };
  const record = (type: number, data: string) => ({ name: "edge.example.net.", type, TTL: 60, data });
  const resolverOf = (fetch: typeof globalThis.fetch, timeoutMs = 1000) =>
    dohResolver({ url: "https://dns.example/dns-query?ct=json", fetch, timeoutMs });
  const answeringWith = (body: unknown, status = 200) =>
    resolverOf(async () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

  it("asks in the JSON form and keeps the parameters of its URL", async () => {
    const requests: Request[] = [];
    const resolver = resolverOf(async (input, init) => {
      requests.push(new Request(input, init));
      return Response.json({ Status: 0 });
    });
    await resolver.query("agent.example.com", "AAAA", never);
    expect(requests.map((request) => request.url)).toEqual([
      "https://dns.example/dns-query?ct=json&name=agent.example.com&type=AAAA",
    ]);
    expect(requests[0]?.headers.get("accept")).toBe("application/dns-json");
    expect(requests[0]?.redirect).toBe("manual");
  });

  it("gives the addresses of the type asked for, past CNAMEs", async () => {
    const Answer = [cname, record(1, "1.1.1.1"), record(1, "1.0.0.1"), record(28, "2606:4700:4700::1111")];
    const resolver = answeringWith({ Status: 0, TC: false, RD: true, Answer });
    expect(await resolver.query("agent.example.com", "A", never)).toEqual(["1.1.1.1", "1.0.0.1"]);
    expect(await resolver.query("agent.example.com", "AAAA", never)).toEqual(["2606:4700:4700::1111"]);
  });

  it.each([
    ["no such name", { Status: 3 }],
    ["no such record", { Status: 0, Answer: [] }],
    ["a CNAME to nowhere", { Status: 0, Answer: [cname] }],
  ])("gives no address for %s", async (_case, body) => {
    expect(await answeringWith(body).query("agent.example.com", "A", never)).toEqual([]);
  });

  it.each([
    ["SERVFAIL", { Status: 2, Answer: [record(1, "1.1.1.1")] }, 200],
    ["REFUSED", { Status: 5 }, 200],
    ["a truncated answer", { Status: 0, TC: true, Answer: [record(1, "1.1.1.1")] }, 200],
    ["no status", { Answer: [record(1, "1.1.1.1")] }, 200],
    ["records without data", { Status: 0, Answer: [{ type: 1 }] }, 200],
    ["what is not JSON", "<html>", 200],
    ["an HTTP error", { Status: 0, Answer: [record(1, "1.1.1.1")] }, 503],
    ["a redirect", { Status: 0, Answer: [record(1, "1.1.1.1")] }, 302],
    ["an endless answer", " ".repeat(65 * 1024), 200],
  ])("fails on %s", async (_case, body, status) => {
    await expect(answeringWith(body, status).query("agent.example.com", "A", never)).rejects.toThrow();
  });

  it("fails when the resolver does not answer in time, and when it is called off", async () => {
    const hanging: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    await expect(resolverOf(hanging, 5).query("agent.example.com", "A", never)).rejects.toThrow(/time limit/);

    const caller = new AbortController();
    const query = resolverOf(hanging, 60_000).query("agent.example.com", "A", caller.signal);
    caller.abort(new Error("called off"));
    await expect(query).rejects.toThrow("called off");
  });
});
