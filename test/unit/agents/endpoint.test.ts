import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { startSample } from "../../agents/sample.ts";
import { call, requestFor, signed, startService } from "./service.ts";

const NOW = new Date("2030-05-06T07:08:09.000Z");

async function startAgent(service: string, verify: boolean, now = () => NOW) {
  const agent = await startSample({ service, verify, now });
  return { ...agent, [Symbol.asyncDispose]: () => agent.close() };
}

describe("an agent's endpoint", () => {
  test("answers a request of the protocol at once, with what it used", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, false);
    const response = await call(agent.url, requestFor("r1", service.url));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ output: "35.0", usage: { calls: [{ model: "rules-1" }] } });
  });

  test.each([
    ["what is no JSON", "{", 400],
    ["another protocol", JSON.stringify({ ...requestFor("r1", "http://127.0.0.1"), protocol: "2020-01" }), 400],
    ["a request without a task", JSON.stringify({ protocol: "2026-11" }), 400],
  ])("refuses %s", async (_, body, status) => {
    await using service = await startService();
    await using agent = await startAgent(service.url, false);
    expect((await fetch(agent.url, { method: "POST", body })).status).toBe(status);
  });

  test("takes nothing but POST", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, false);
    const response = await fetch(agent.url);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("an agent that checks signatures", () => {
  test("answers a signed call once and refuses its replay", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, true);
    const request = await signed(agent.url, requestFor("r1", service.url), NOW);
    expect((await fetch(agent.url, request)).status).toBe(200);
    expect((await fetch(agent.url, request)).status).toBe(401);
    expect((await fetch(agent.url, await signed(agent.url, requestFor("r1", service.url), NOW))).status).toBe(200);
  });

  test("refuses a replay as long as its signature is good, and an old signature after that", async () => {
    await using service = await startService();
    let now = NOW.getTime();
    await using agent = await startAgent(service.url, true, () => new Date(now));
    const request = await signed(agent.url, requestFor("r1", service.url), NOW);
    expect((await fetch(agent.url, request)).status).toBe(200);
    for (const later of [1_000, 59_000, 64_000, 66_000, 200_000]) {
      now = NOW.getTime() + later;
      expect((await fetch(agent.url, request)).status, `${later} ms later`).toBe(401);
    }
  });

  test("refuses a call that is not signed", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, true);
    expect((await call(agent.url, requestFor("r1", service.url))).status).toBe(401);
  });

  test("refuses a call whose body was changed", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, true);
    const request = await signed(agent.url, requestFor("r1", service.url), NOW);
    const body = request.body.replace("r1", "r2");
    expect((await fetch(agent.url, { ...request, body })).status).toBe(401);
  });

  test("refuses a call that was signed for another agent, whatever host it names", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, true);
    const elsewhere = await signed("http://127.0.0.1:1/", requestFor("r1", service.url), NOW);
    expect((await fetch(agent.url, elsewhere)).status).toBe(401);
    const forged = httpRequest(agent.url, { method: "POST", headers: { ...elsewhere.headers, host: "127.0.0.1:1" } });
    forged.end(elsewhere.body);
    const [response] = (await once(forged, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(401);
  });

  test("refuses a call signed by a key that the service does not publish", async () => {
    await using service = await startService();
    await using agent = await startAgent(service.url, true);
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
    const stranger = await loadSigningKeys(JSON.stringify({ keys: [await exportJWK(privateKey)] }));
    const request = await signed(agent.url, requestFor("r1", service.url), NOW, stranger);
    expect((await fetch(agent.url, request)).status).toBe(401);
  });

  test("asks to come again where the service's keys can't be had", async () => {
    const service = await startService();
    await service[Symbol.asyncDispose]();
    await using agent = await startAgent(service.url, true);
    const response = await fetch(agent.url, await signed(agent.url, requestFor("r1", service.url), NOW));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });
});
