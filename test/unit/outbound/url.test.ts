import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outboundPolicy } from "../../../shared/platform/outbound/policy.ts";
import { checkUrl } from "../../../shared/platform/outbound/url.ts";
import { HOSTILE_URLS } from "./hostile-urls.ts";

const production = { ownHosts: ["screening.example.com"], allowLoopbackHttp: false };
const development = { ownHosts: ["127.0.0.1:8787"], allowLoopbackHttp: true };

const hostile = Object.entries(HOSTILE_URLS).flatMap(([code, urls]) => urls.map((url) => [code, url] as const));
const codeOf = (url: string, policy = production) => {
  const verdict = checkUrl(url, policy);
  return verdict.ok ? "ok" : verdict.code;
};

describe("a URL is refused by its text", () => {
  it.each(hostile)("%s: %j", (code, url) => {
    expect(codeOf(url)).toBe(code);
  });

  it("whatever host it has that is an address once it is normalised", () => {
    const octet = fc.nat(255);
    const spellings = [(n: number) => `${n}`, (n: number) => `0x${n.toString(16)}`, (n: number) => `0${n.toString(8)}`];
    const spelled = fc.tuple(octet, fc.constantFrom(...spellings)).map(([n, spell]) => spell(n));
    const ipv4 = fc
      .tuple(
        fc.oneof(
          fc.ipV4Extended(),
          fc.array(spelled, { minLength: 1, maxLength: 4 }).map((p) => p.join(".")),
        ),
        fc.boolean(),
      )
      .map(([address, dot]) => (dot ? `${address}.` : address));
    const wide = (text: string) => text.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
    const escaped = (text: string) => text.replace(/[0-9]/g, (digit) => `%3${digit}`);
    const host = fc.oneof(
      ipv4,
      ipv4.map(wide),
      ipv4.map(escaped),
      fc.ipV6().map((address) => `[${address}]`),
      ipv4.map((address) => `[::ffff:${address}]`),
    );
    let addresses = 0;
    fc.assert(
      fc.property(host, fc.constantFrom("", ":443", ":8443"), fc.webPath(), (name, port, path) => {
        const url = URL.parse(`https://${name}${port}${path}`);
        if (url !== null && isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) addresses += 1;
        expect(["ip_literal", "malformed_url"]).toContain(codeOf(`https://${name}${port}${path}`));
      }),
      { numRuns: 2000 },
    );
    expect(addresses).toBeGreaterThan(1000);
  });

  it("for a name with an underscore by a message that says which characters it may have", () => {
    const verdict = checkUrl("https://my_agent.example.com/run", production);
    expect(verdict).toMatchObject({ code: "not_public_name", message: expect.stringContaining("hyphens") });
  });

  it("with a message that ends what it says in what to do", () => {
    for (const [, url] of hostile) {
      const verdict = checkUrl(url, production);
      expect(verdict.ok ? "" : verdict.message).toMatch(/[.] (?:Write|Use|Serve|Remove) .+[.]$/);
    }
  });

  it("and any text at all gets a verdict", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (text) => {
        const verdict = checkUrl(text, production);
        if (verdict.ok) expect(verdict.url.protocol).toBe("https:");
      }),
    );
  });
});

describe("a URL is taken", () => {
  it.each([
    ["https://agent.example.com", "https://agent.example.com/"],
    ["https://agent.example.com/run?x=1&y=a@b", "https://agent.example.com/run?x=1&y=a@b"],
    ["https://agent.example.com:443/", "https://agent.example.com/"],
    ["https://agent.example.com:8443/run", "https://agent.example.com:8443/run"],
    ["HTTPS://Agent.Example.COM/Run", "https://agent.example.com/Run"],
    ["https://example.com/", "https://example.com/"],
    ["https://agent.co.uk/", "https://agent.co.uk/"],
    ["https://www.ck/", "https://www.ck/"],
    ["https://1.com/", "https://1.com/"],
    ["https://127.0.0.1.example.com/", "https://127.0.0.1.example.com/"],
    ["https://me.github.io/", "https://me.github.io/"],
    ["https://agent.me.workers.dev/", "https://agent.me.workers.dev/"],
    ["https://bücher.de/", "https://xn--bcher-kva.de/"],
    ["https://агент.рф/", "https://xn--80agg6aza.xn--p1ai/"],
    ["https://api.screening.example.com/", "https://api.screening.example.com/"],
    ["https://agent.example.com/http://127.0.0.1/", "https://agent.example.com/http://127.0.0.1/"],
    [`https://agent.example.com/${"a".repeat(2022)}`, `https://agent.example.com/${"a".repeat(2022)}`],
  ])("%s", (raw, href) => {
    const verdict = checkUrl(raw, production);
    expect(verdict.ok && verdict.url.href).toBe(href);
  });
});

describe("in development", () => {
  it.each([
    "http://127.0.0.1:9000/run",
    "https://127.0.0.1:9000/",
    "http://localhost/",
    "http://localhost:1/",
    "http://[::1]:9000/",
  ])("loopback is callable: %s", (url) => {
    expect(codeOf(url, development)).toBe("ok");
  });

  it.each([
    ["http://agent.example.com/", "scheme_not_https"],
    ["http://127.0.0.2/", "scheme_not_https"],
    ["https://127.0.0.2/", "ip_literal"],
    ["http://10.0.0.1/", "scheme_not_https"],
    ["https://192.168.0.1/", "ip_literal"],
    ["https://[::ffff:127.0.0.1]/", "ip_literal"],
    ["http://agent.localhost/", "scheme_not_https"],
    ["https://agent.local/", "not_public_name"],
    ["https://agent.example.com:9000/", "port_not_allowed"],
    ["ftp://127.0.0.1/", "scheme_not_https"],
    ["http://user@127.0.0.1/", "userinfo_not_allowed"],
    ["http://127.0.0.1/#a", "fragment_not_allowed"],
    ["http://127.0.0.1:8787/", "own_host"],
    ["http://localhost:8787/", "own_host"],
    ["https://[::1]:8787/", "own_host"],
  ])("nothing else is loosened: %s is %s", (url, code) => {
    expect(codeOf(url, development)).toBe(code);
  });
});

describe("outboundPolicy", () => {
  const env = { BASE_URL: "https://screening.example.com", FRONTEND_URL: "https://app.example.com:8443/start" };

  it("knows the service's own addresses", () => {
    const policy = outboundPolicy({ ...env, ENVIRONMENT: "production" });
    expect(policy.ownHosts).toEqual(["screening.example.com", "app.example.com:8443"]);
  });

  it.each([
    ["production", false],
    ["development", true],
    ["test", true],
  ] as const)("in %s allows loopback: %s", (ENVIRONMENT, allowed) => {
    expect(outboundPolicy({ ...env, ENVIRONMENT }).allowLoopbackHttp).toBe(allowed);
  });
});
