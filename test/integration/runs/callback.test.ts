import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { CUT, type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, callbackIn, KEY, startAgent, tally, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;
let time = Date.now();

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const promises: Handler = () => ({ status: 202 });

beforeEach(() => {
  endpoint.seen.length = 0;
  endpoint.answer = promises;
});

const DONE = { status: "completed", output: KEY, usage: { calls: [{ model: "m", cost_usd: 0.002 }] } };
const path = (runId: string) => `/api/v1/runs/${runId}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const read = async (runId: string) => (await owner.call("GET", path(runId))).body;

/** A run whose agent has promised to call back. */
async function promised(): Promise<{ runId: string; token: string }> {
  await addRun(owner, agent, suite.tasks[0] ?? "");
  await service.settled();
  return callbackIn(endpoint.seen.at(-1)?.body);
}

/** Reports as the agent does. */
function report(runId: string, token: string, body: unknown = DONE): Promise<Answer> {
  return anonymous.call("PATCH", path(runId), body, bearer(token));
}

describe("a run whose agent answers 202", () => {
  it("is reported on whatever else its agent's address has sent in this minute; a forged token counts as the address's", async () => {
    const shared = caller(service, { "cf-connecting-ip": "10.8.0.1" });
    const told = (runId: string, token: string, body: unknown) =>
      shared.call("PATCH", path(runId), body, bearer(token));
    const [forgeries, other] = [`run_${"x".repeat(54)}`, await promised()];
    const { runId, token } = await promised();
    // A few at a time: the limit lets through what its store is too busy to count.
    const untilRefused = async (send: (n: number) => Promise<Answer>) => {
      const answers: Answer[] = [];
      while (answers.length < 300 && answers.every(({ status }) => status !== 429))
        answers.push(...(await Promise.all(Array.from({ length: 5 }, (_, n) => send(n)))));
      return tally(answers);
    };
    const foreign = await untilRefused((n) => told(runId, n % 2 === 0 ? forgeries : other.token, DONE));
    expect(Object.keys(foreign)).toEqual(["401", "429"]);
    const noted = await untilRefused(() => told(runId, token, { status: "running" }));
    expect(Object.keys(noted)).toEqual(["200", "429"]);
    expect(noted[200]).toBeGreaterThanOrEqual(60);
    expect((await told(other.runId, other.token, DONE)).status).toBe(200);
    expect((await owner.call("PATCH", path(runId), DONE)).status).toBe(200);
    await service.settled();
  });

  it("takes 60 reports a minute of its owner, whatever their key may send; its agent's comes all the same", async () => {
    const [{ runId, token }, other] = [await promised(), await promised()];
    const made = await owner.call("POST", "/api/v1/api-keys", {
      name: "k",
      scope: "write",
      rate_limit_per_minute: 6000,
    });
    const key = caller(service, bearer(made.body["key"]));
    const answers: Answer[] = [];
    while (answers.length < 80)
      answers.push(
        ...(await Promise.all(Array.from({ length: 5 }, () => key.call("PATCH", path(runId), { status: "running" })))),
      );
    expect(Object.keys(tally(answers))).toEqual(["200", "429"]);
    expect(tally(answers)[200]).toBeGreaterThanOrEqual(60);
    expect((await key.call("PATCH", path(other.runId), DONE)).status).toBe(200);
    expect((await report(runId, token)).status).toBe(200);
    await service.settled();
  });

  it("waits, takes the report by its token, and is graded, priced and signed from it", async () => {
    const { runId, token } = await promised();
    expect(await read(runId)).toMatchObject({ status: "running", finalized_at: null });
    time += 1500;
    expect(await report(runId, token)).toMatchObject({ status: 200, body: { id: runId } });
    await service.settled();
    expect(await read(runId)).toMatchObject({
      status: "completed",
      passed: true,
      latency_ms: 1500,
      evidence_cost_usd: 0.002,
      evidence_signed: true,
    });
    expect((await anonymous.call("GET", `${path(runId)}/evidence`)).body.verified).toBe(true);
  });

  it("takes a report that comes just when its call ends, however many do", async () => {
    const quick = await newUser(service, { plan: "enterprise" });
    const fast = await addAgent(quick, { endpoint: endpoint.url });
    const reports: Promise<Answer>[] = [];
    endpoint.answer = ({ body }) => {
      const { runId, token } = callbackIn(body);
      const own = caller(service, { "cf-connecting-ip": `10.8.0.${reports.length}` });
      reports.push(own.call("PATCH", path(runId), DONE, bearer(token)));
      return { status: 202 };
    };
    const task_ids = suite.tasks;
    for (let n = 0; n < 6; n += 1)
      await quick.call("POST", "/api/v1/runs/batch", { agent_id: fast, task_ids, repeats: 10 });
    await service.settled();
    const statuses = (await Promise.all(reports)).map(({ status }) => status);
    await service.settled();
    expect(statuses).toEqual(Array.from({ length: 60 }, () => 200));
    expect(await service.sql("select distinct status, attempt from runs where agent_id = $1", [fast])).toEqual([
      { status: "completed", attempt: 1 },
    ]);
  });

  it("keeps the very bytes of the report, committed to in the evidence", async () => {
    const { runId, token } = await promised();
    const raw = `{ "output" : "${KEY}",\n"status":"completed" }`;
    await anonymous.call("PATCH", path(runId), raw, { "content-type": "application/json", ...bearer(token) });
    await service.settled();
    const { body } = await owner.call("GET", `${path(runId)}/output`);
    expect(Buffer.from(body.response.body_base64, "base64").toString()).toBe(raw);
    const { subject, digest } = await committed(runId, body.response);
    expect(subject.commitments.response).toBe(digest);
  });

  it("notes that its agent is at work, as often as it says so", async () => {
    const { runId, token } = await promised();
    for (let times = 0; times < 2; times++) {
      expect(await report(runId, token, { status: "running" })).toMatchObject({
        status: 200,
        body: { status: "running" },
      });
    }
    expect((await report(runId, token)).status).toBe(200);
    await service.settled();
    expect((await read(runId)).status).toBe("completed");
  });

  it("fails as its agent reports, with the agent's words for the owner alone", async () => {
    const { runId, token } = await promised();
    expect((await report(runId, token, { status: "failed", error: "out of credit" })).status).toBe(200);
    await service.settled();
    const failed = { status: "failed", failure_code: "agent_reported_failure", evidence_signed: true };
    expect(await read(runId)).toMatchObject({ ...failed, failure_detail: "out of credit" });
    const shown = await anonymous.call("GET", path(runId));
    expect(shown.body).toMatchObject(failed);
    expect(shown.text).not.toContain("out of credit");
  });

  it("keeps the agent's words without control characters", async () => {
    const { runId, token } = await promised();
    const error = `\u001b[31mout of\r\n\tcredit\u0085${"!".repeat(1900)}`;
    expect((await report(runId, token, { status: "failed", error })).status).toBe(200);
    await service.settled();
    expect((await read(runId)).failure_detail).toBe(`[31mout of credit ${"!".repeat(1900)}`);
  });

  it.each([undefined, null, "", " \n", "\u0001"])(
    "fails as its agent reports without a reason, which is said: %j",
    async (error) => {
      const { runId, token } = await promised();
      expect((await report(runId, token, { status: "failed", error })).status).toBe(200);
      await service.settled();
      const failure_detail = "The agent reported a failure, and did not say why.";
      expect(await read(runId)).toMatchObject({ failure_code: "agent_reported_failure", failure_detail });
    },
  );

  it("fails as agent_timeout where a report could not be taken, and its owner is told where to look", async () => {
    const { runId, token } = await promised();
    expect((await report(runId, token, { ...DONE, refused: false })).status).toBe(422);
    time += 60_001;
    await service.broker.advance(80_000);
    await service.settled();
    const { failure_code, failure_detail } = await read(runId);
    expect([failure_code, failure_detail]).toEqual([
      "agent_timeout",
      expect.stringContaining("refused with 422: /refused"),
    ]);
  });

  it("takes null for what its agent has not, as many serialisers write it", async () => {
    const { runId, token } = await promised();
    const nothing = { error: null, tool_calls: null, usage: null, serving_model: null, input_tokens: null };
    expect((await report(runId, token, { status: "completed", output: KEY, ...nothing })).status).toBe(200);
    await service.settled();
    expect(await read(runId)).toMatchObject({ status: "completed", passed: true, failure_code: null });
  });

  it("takes one of 20 reports at once", async () => {
    const { runId, token } = await promised();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_none, n) => report(runId, token, { ...DONE, output: n === 0 ? KEY : String(n) })),
    );
    expect(tally(answers)).toEqual({ 200: 1, 401: 19 });
    const winner = answers.findIndex(({ status }) => status === 200);
    await service.settled();
    expect((await owner.call("GET", `${path(runId)}/output`)).body.output).toBe(winner === 0 ? KEY : String(winner));
  });
});

describe("a report before the call has ended", () => {
  it.each<[string, Handler]>([
    ["a 202", promises],
    ["another answer", () => json(200, { output: "41" })],
    ["a failure", () => json(500, {})],
    ["nothing", () => CUT],
  ])("is the answer, though the call then ends with %s", async (_case, end) => {
    let status: number | undefined;
    endpoint.answer = async (request) => {
      const { runId, token } = callbackIn(request.body);
      ({ status } = await report(runId, token));
      return end(request);
    };
    const { runId, token } = await promised();
    expect(status).toBe(200);
    expect(await read(runId)).toMatchObject({ status: "completed", passed: true, failure_code: null });
    expect((await report(runId, token)).status).toBe(401);
  });
});

describe("a token", () => {
  it("is dead after its report", async () => {
    const { runId, token } = await promised();
    await report(runId, token);
    expect(await report(runId, token)).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
    await service.settled();
    expect((await report(runId, token)).status).toBe(401);
  });

  it("is dead once its call has brought the answer", async () => {
    endpoint.answer = () => json(200, { output: KEY });
    const { runId, token } = await promised();
    expect((await report(runId, token)).status).toBe(401);
  });

  it("is good for its own run alone, and for nothing else", async () => {
    const [one, other] = [await promised(), await promised()];
    const crossed = await report(one.runId, other.token);
    const invented = await report(one.runId, `run_${"x".repeat(43)}`);
    const nowhere = await report("01900000-0000-7000-8000-000000000000", one.token);
    expect([crossed.status, invented.status, nowhere.status]).toEqual([401, 401, 401]);
    expect((await anonymous.call("GET", `${path(one.runId)}/output`, undefined, bearer(one.token))).status).toBe(401);
    expect((await anonymous.call("POST", `${path(one.runId)}/cancel`, undefined, bearer(one.token))).status).toBe(401);
    expect((await read(one.runId)).status).toBe("running");
  });

  it("is dead after the deadline, when the run fails as agent_timeout", async () => {
    const { runId, token } = await promised();
    time += 60_001;
    expect((await report(runId, token)).status).toBe(401);
    expect((await read(runId)).status).toBe("running");
    await service.broker.advance(80_000);
    await service.settled();
    expect(await read(runId)).toMatchObject({ status: "failed", failure_code: "agent_timeout", evidence_signed: true });
    expect((await report(runId, token)).status).toBe(401);
  });

  it("lives to its deadline: a message that would end the wait sooner does nothing", async () => {
    const { runId, token } = await promised();
    await service.broker.advance(80_000);
    await service.settled();
    expect((await read(runId)).status).toBe("running");
    expect((await report(runId, token)).status).toBe(200);
    await service.settled();
    expect((await read(runId)).status).toBe("completed");
  });
});

describe("a report by a user", () => {
  it("is taken from the owner, once; on the final run it changes nothing", async () => {
    const { runId } = await promised();
    expect((await owner.call("PATCH", path(runId), DONE)).status).toBe(200);
    await service.settled();
    const final = await owner.call("GET", path(runId));
    expect(final.body).toMatchObject({ status: "completed", passed: true });
    const again = await owner.call("PATCH", path(runId), { status: "failed", error: "no" });
    expect([again.status, again.text]).toEqual([200, final.text]);
  });

  it("is refused from anybody else", async () => {
    const { runId } = await promised();
    const stranger = await newUser(service);
    expect((await stranger.call("PATCH", path(runId), DONE)).status).toBe(403);
    expect((await anonymous.call("PATCH", path(runId), DONE)).status).toBe(401);
    const hidden = await addAgent(owner, { endpoint: endpoint.url, is_public: false });
    const unseen = await addRun(owner, hidden, suite.tasks[0] ?? "");
    expect((await stranger.call("PATCH", path(unseen), DONE)).status).toBe(404);
  });

  it.each(["score", "passed", "correctness", "evidence_cost_usd", "latency_ms", "failure_code", "composite_score"])(
    "cannot set %s, nor can the agent",
    async (field) => {
      const { runId, token } = await promised();
      for (const answer of [
        await report(runId, token, { ...DONE, [field]: 1 }),
        await owner.call("PATCH", path(runId), { ...DONE, [field]: 1 }),
      ]) {
        expect(answer).toMatchObject({ status: 422, body: { code: "unrecognized_field" } });
      }
      expect((await read(runId)).status).toBe("running");
    },
  );

  it.each(["queued", "cancelled", "passed"])("cannot make a run %s", async (status) => {
    const { runId, token } = await promised();
    expect((await report(runId, token, { status })).status).toBe(422);
  });
});

describe("the sweep result contract", () => {
  const SWEEP = { serving_model: "model-x", input_tokens: 700, output_tokens: 30 };

  it("names model and tokens of the run", async () => {
    const { runId, token } = await promised();
    expect((await report(runId, token, { status: "completed", output: KEY, ...SWEEP })).status).toBe(200);
    await service.settled();
    expect(await read(runId)).toMatchObject(SWEEP);
  });

  it("is switched off with its flag", async () => {
    const off = await startService({ settings: { FLAGS: "billing,certify,secret_suites" } });
    try {
      const user = await newUser(off);
      const own = await addAgent(user, { endpoint: endpoint.url });
      const { tasks } = await addSuite(off, 1);
      await addRun(user, own, tasks[0] ?? "");
      await off.settled();
      const { runId, token } = callbackIn(endpoint.seen.at(-1)?.body);
      const patch = (body: object) => caller(off).call("PATCH", path(runId), body, bearer(token));
      for (const [field, value] of Object.entries(SWEEP)) {
        expect(await patch({ ...DONE, [field]: value })).toMatchObject({
          status: 422,
          body: { code: "feature_disabled" },
        });
      }
      expect((await patch(DONE)).status).toBe(200);
      await off.settled();
    } finally {
      await off.stop();
    }
  });
});

/** What the evidence of a run commits to, and the digest of these bytes under their salt. */
async function committed(runId: string, { body_base64, salt }: { body_base64: string; salt: string }) {
  const { body } = await anonymous.call("GET", `${path(runId)}/evidence`);
  const bytes = Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(body_base64, "base64")]);
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
  return { subject: body.statement.credentialSubject, digest };
}
