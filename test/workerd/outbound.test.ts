import { describe, expect, inject, it } from "vitest";
import { exchange } from "../../shared/platform/outbound/exchange.ts";

const MIB = 1024 * 1024;

function call(path: string, deadlineMs = 5000, base = inject("hostileUrl")) {
  return exchange(
    { url: base + path, method: "POST", headers: {}, body: "{}", deadlineMs, maxResponseBytes: MIB },
    {
      fetch: (input, init) => fetch(input, init),
      resolver: { query: () => Promise.reject(new Error("loopback is not looked up")) },
      policy: { ownHosts: [], allowLoopbackHttp: true },
      now: () => new Date(),
    },
  );
}

describe("a call to a stranger's URL from workerd", () => {
  it("brings the answer", async () => {
    expect(await call("/ok")).toMatchObject({ ok: true, status: 200 });
  });

  it.each([
    ["/redirect", "agent_redirected"],
    ["/bomb", "agent_response_too_large"],
    ["/large", "agent_response_too_large"],
  ])("%s fails as %s", async (path, failure_code) => {
    expect(await call(path)).toMatchObject({ ok: false, failure_code });
  });

  it("reads no further than the cap where the answer is chunked and names a length, too", async () => {
    expect(await call("/", 5000, inject("lyingUrl"))).toMatchObject({ failure_code: "agent_response_too_large" });
  });

  it("is cut at its deadline", async () => {
    expect(await call("/hang", 100)).toMatchObject({ ok: false, failure_code: "agent_timeout" });
  });
});
