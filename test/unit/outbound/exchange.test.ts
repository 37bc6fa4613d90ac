import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { exchange, type OutboundDeps, type OutboundRequest } from "../../../shared/platform/outbound/exchange.ts";
import { type DnsResolver, ResolverFault } from "../../../shared/platform/outbound/resolve.ts";
import { HOSTILE_URLS } from "./hostile-urls.ts";
import { freePort, httpServer, tcpServer, uncertifiedServer } from "./servers.ts";

const CAP = 64 * 1024;
const MIB = 1024 * 1024;

const resolving = (...addresses: string[]): DnsResolver => ({ query: async () => addresses });
const unasked: DnsResolver = { query: () => Promise.reject(new Error("must not be asked")) };

function call(url: string, request: Partial<OutboundRequest> = {}, deps: Partial<OutboundDeps> = {}) {
  return exchange(
    {
      url,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
      deadlineMs: 5000,
      maxResponseBytes: CAP,
      ...request,
    },
    {
      fetch,
      resolver: unasked,
      policy: { ownHosts: ["screening.example.com"], allowLoopbackHttp: true },
      now: () => new Date(),
      ...deps,
    },
  );
}

describe("a URL that is not allowed is refused before any packet", () => {
  const production = { ownHosts: ["screening.example.com"], allowLoopbackHttp: false };

  it.each(Object.values(HOSTILE_URLS).flat())("%j", async (url) => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const query = vi.fn<DnsResolver["query"]>();
    const result = await call(url, {}, { fetch, resolver: { query }, policy: production });
    expect(result).toMatchObject({ ok: false, failure_code: "endpoint_not_allowed", latency_ms: 0 });
    expect(query).not.toHaveBeenCalled();
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([
    ["a private address", resolving("10.0.0.1")],
    ["a private address among public ones", resolving("1.1.1.1", "127.0.0.1")],
    ["cloud metadata", resolving("169.254.169.254")],
    ["a mapped address", resolving("::ffff:10.0.0.1")],
    ["nothing", resolving()],
  ])("a name that resolves to %s", async (_case, resolver) => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const result = await call("https://agent.example.com/", {}, { fetch, resolver });
    expect(result).toMatchObject({ ok: false, failure_code: "endpoint_not_allowed", latency_ms: 0 });
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe("where the resolver answers", () => {
  it("nothing definite, it is our own fault, which is thrown, and nothing is sent", async () => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const cause = new Error("SERVFAIL");
    const refused = call("https://agent.example.com/", {}, { fetch, resolver: { query: () => Promise.reject(cause) } });
    await expect(refused).rejects.toBeInstanceOf(ResolverFault);
    await expect(refused).rejects.toMatchObject({ code: "dependency_unavailable", cause });
    expect(fetch).not.toHaveBeenCalled();
  });

  it("but late, the other side has all of its time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const late = Promise.withResolvers<string[]>();
      const fetch: typeof globalThis.fetch = async () => new Response("fine");
      const resolver: DnsResolver = { query: () => late.promise };
      const result = call("https://agent.example.com/", { deadlineMs: 1000 }, { fetch, resolver });
      await vi.advanceTimersByTimeAsync(2000);
      late.resolve(["1.1.1.1"]);
      expect(await result).toMatchObject({ ok: true, status: 200 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("an allowed request", () => {
  it("is sent as it was given once its name has only public addresses", async () => {
    const sent: Request[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      sent.push(new Request(input, init));
      return new Response("fine", { status: 202, headers: { "x-agent": "1" } });
    };
    const clock = [400, 1000, 1250].map((ms) => new Date(ms));
    const now = () => clock.shift() ?? new Date(Number.NaN);
    const result = await call("https://agent.example.com/run", {}, { fetch, now, resolver: resolving("1.1.1.1") });
    expect(sent.map(({ url, method, redirect }) => ({ url, method, redirect }))).toEqual([
      { url: "https://agent.example.com/run", method: "POST", redirect: "manual" },
    ]);
    expect(await sent[0]?.text()).toBe("{}");
    expect(result).toMatchObject({ ok: true, status: 202, lookup_ms: 600, latency_ms: 250 });
    expect(result.ok && [new TextDecoder().decode(result.body), result.headers.get("x-agent")]).toEqual(["fine", "1"]);
  });

  it("to loopback in development goes out without a name lookup", async () => {
    await using server = await httpServer((request, response) => request.pipe(response));
    const body = new TextEncoder().encode('{"a":1}');
    const result = await call(server.url("/run").replace("127.0.0.1", "localhost"), { body });
    expect(result.ok && new TextDecoder().decode(result.body)).toBe('{"a":1}');
  });

  it("does not call fetch as a method of its dependencies", async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response());
    await call("https://agent.example.com/", {}, { fetch, resolver: resolving("1.1.1.1") });
    expect(fetch.mock.contexts).toEqual([undefined]);
  });
});

describe("an answer is taken whatever its status", () => {
  it.each([200, 202, 204, 400, 404, 429, 500, 503])("%i", async (status) => {
    await using server = await httpServer((_request, response) => response.writeHead(status).end());
    expect(await call(server.url())).toMatchObject({ ok: true, status, body: new Uint8Array() });
  });

  it("up to exactly the cap", async () => {
    await using server = await httpServer((_request, response) => response.end(Buffer.alloc(CAP, "a")));
    const result = await call(server.url());
    expect(result.ok && result.body.byteLength).toBe(CAP);
  });

  it.each([
    ["at once, where it is as long as it says", { "content-length": "5" }, "12345", 1],
    ["by the chunk, where it does not say so", { "transfer-encoding": "chunked" }, "12345", 0],
    [
      "by the chunk, where its length is that of what it is packed in",
      { "content-encoding": "gzip", "content-length": String(gzipSync("12345").length) },
      gzipSync("12345"),
      0,
    ],
  ])("%s", async (_how, headers, body, atOnce) => {
    await using server = await httpServer((_request, response) => void response.writeHead(200, headers).end(body));
    let reads = 0;
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const whole = response.arrayBuffer.bind(response);
      vi.spyOn(response, "arrayBuffer").mockImplementation(() => {
        reads += 1;
        return whole();
      });
      return response;
    };
    const result = await call(server.url(), {}, { fetch: watched });
    expect([result.ok && new TextDecoder().decode(result.body), reads]).toEqual(["12345", atOnce]);
  });

  it("without a hold on the chunks that it comes in: workerd has each, were it a single byte, in 4 KiB of its own", async () => {
    const text = "x".repeat(16 * 1024) + "12345";
    const chunk = new Uint8Array(4096);
    let sent = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        // What is kept of a chunk, and not of what stood in it, shows the next one.
        pull(controller) {
          if (sent === text.length) return controller.close();
          chunk[0] = text.charCodeAt(sent);
          sent += 1;
          controller.enqueue(chunk.subarray(0, 1));
        },
      },
      { highWaterMark: 0 },
    );
    const fetch = async () => new Response(body);
    const result = await call("https://agent.example.com/", {}, { fetch, resolver: resolving("1.1.1.1") });
    expect(result.ok && new TextDecoder().decode(result.body)).toBe(text);
  });

  it("and unpacked when it is compressed", async () => {
    await using server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked")),
    );
    const result = await call(server.url());
    expect(result.ok && new TextDecoder().decode(result.body)).toBe("unpacked");
  });
});

describe("a hostile answer is cut", () => {
  it.each([300, 301, 302, 303, 304, 307, 308])("%i is a redirect and is not followed", async (status) => {
    await using target = await httpServer((_request, response) => response.end("followed"));
    await using server = await httpServer((_request, response) =>
      response.writeHead(status, { location: target.url() }).end(),
    );
    expect(await call(server.url())).toMatchObject({ ok: false, failure_code: "agent_redirected" });
    expect(target.connections()).toBe(0);
  });

  it("a redirect that the runtime hides is one too", async () => {
    const opaque = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    const result = await call("http://127.0.0.1/", {}, { fetch: async () => opaque });
    expect(result).toMatchObject({ ok: false, failure_code: "agent_redirected" });
  });

  const drip = (response: ServerResponse) => {
    const timer = setInterval(() => response.write("."), 5);
    response.on("close", () => clearInterval(timer));
  };
  it.each<[string, (response: ServerResponse) => void]>([
    ["no headers", () => undefined],
    ["headers and no body", (response) => response.flushHeaders()],
    ["a byte now and then", drip],
  ])("%s: ended at the deadline, with its connection", async (_case, answer) => {
    const closed = Promise.withResolvers<void>();
    await using server = await httpServer((_request, response) => {
      response.on("close", closed.resolve);
      answer(response);
    });
    const result = await call(server.url(), { deadlineMs: 100 });
    expect(result).toMatchObject({ ok: false, failure_code: "agent_timeout" });
    expect(result.latency_ms).toBeGreaterThanOrEqual(90);
    await closed.promise;
  });

  it("a body without end is left after the cap, and its connection is closed", async () => {
    let written = 0;
    const closed = Promise.withResolvers<void>();
    await using server = await httpServer((_request, response) => {
      const pour = () => {
        do written += CAP;
        while (response.write(Buffer.alloc(CAP)));
      };
      response.on("drain", pour).on("close", closed.resolve);
      pour();
    });
    expect(await call(server.url())).toMatchObject({ ok: false, failure_code: "agent_response_too_large" });
    await closed.promise;
    expect(written).toBeLessThan(32 * MIB);
  });

  it("one byte over the cap is too many", async () => {
    await using server = await httpServer((_request, response) => response.end(Buffer.alloc(CAP + 1)));
    expect(await call(server.url())).toMatchObject({ ok: false, failure_code: "agent_response_too_large" });
  });

  it("a compressed bomb of 100 MiB is cut at the cap with bounded memory", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB));
    expect(bomb.byteLength).toBeLessThan(MIB);
    await using server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    let read = 0;
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const meter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          read += chunk.byteLength;
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(meter), response);
    };
    expect(await call(server.url(), {}, { fetch: counting })).toMatchObject({
      ok: false,
      failure_code: "agent_response_too_large",
    });
    expect(read).toBeGreaterThan(CAP);
    expect(read).toBeLessThan(CAP + MIB);
  });
});

describe("a broken answer is told apart", () => {
  const talking = (text: string) => () => tcpServer((socket) => void socket.once("data", () => socket.end(text)));
  it.each([
    ["a reset before the answer", "agent_unreachable", () => tcpServer((socket) => socket.resetAndDestroy())],
    ["a close before the answer", "agent_unreachable", talking("")],
    ["a close within the headers", "agent_unreachable", talking("HTTP/1.1 200 OK\r\nContent-Le")],
    [
      "a body shorter than its Content-Length",
      "agent_unreachable",
      talking("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    ],
    [
      "a body that breaks off in a chunk",
      "agent_unreachable",
      talking("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    ],
    ["something that is not HTTP", "agent_invalid_response", talking("SSH-2.0-OpenSSH_9.7\r\n")],
    ["headers without end", "agent_invalid_response", talking(`HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(MIB)}\r\n\r\n`)],
    [
      "a false Content-Encoding",
      "agent_invalid_response",
      talking("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain"),
    ],
    ["TLS without a certificate", "agent_tls_error", uncertifiedServer],
    ["no TLS on an https URL", "agent_tls_error", () => tcpServer((socket) => void socket.end("SSH-2.0\r\n"), "https")],
  ])("%s is %s", async (_case, failure_code, start) => {
    await using server = await start();
    expect(await call(server.url())).toMatchObject({ ok: false, failure_code });
  });

  it("a port where nobody listens is agent_unreachable", async () => {
    const result = await call(`http://127.0.0.1:${await freePort()}/`);
    expect(result).toMatchObject({ ok: false, failure_code: "agent_unreachable" });
  });

  it("in words that name neither addresses nor code", async () => {
    const result = await call(`http://127.0.0.1:${await freePort()}/`);
    expect(!result.ok && result.detail).not.toMatch(/127|ECONN|fetch/);
  });
});
