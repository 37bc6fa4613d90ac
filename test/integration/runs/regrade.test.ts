import { Buffer } from "node:buffer";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCommandLine } from "../../../clients/cli/build.ts";
import { commit } from "../../../shared/evidence/commitment.ts";
import { keyId } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import type { EvidenceStatement } from "../../../shared/evidence/statement.ts";
import type { Json } from "../../../shared/grading/schema.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { regrade } from "../../../shared/runs/regrade.ts";
import { samples } from "../../../shared/templates/index.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { CUT, type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { commandLine } from "../clients/cli-support.ts";
import { install, newFolder } from "../clients/packing-support.ts";
import { later, published, type Published, reveal, signedInAgain, solved, speaking } from "./regrading-support.ts";
import { addAgent, addRun, addSuite, startAgent } from "./support.ts";

const HOLDS = { valid: true, instance_matches: true, response_matches: true, agrees: true };
const RIGHT = { ...HOLDS, correctness: 1, passed: true };
const WRONG = { ...HOLDS, correctness: 0, passed: false };
const UNGRADED = { correctness: null, passed: null, agrees: false };

let service: TestService;
let owner: User;
let anonymous: Caller;
let agent: Consumer;
let tasks: string[];
let run: Published;
let fixed: Published;
let time = Date.parse("2026-11-22T12:00:00Z");
const screened = new Map<string, [id: string, result: object]>();

let reportFound: (() => Promise<void>) | null = null;

/** Answers 202, and reports what `think` makes of the right answer once the call is over. */
const reporting =
  (think: (right: Json) => unknown): Handler =>
  ({ body }) => {
    const { task, callback } = JSON.parse(body.toString());
    reportFound = async () => {
      const raw = JSON.stringify({ status: "completed", output: think(solved(task)), usage: { cost_usd: 0.01 } });
      await anonymous.call("PATCH", new URL(callback.url).pathname, raw, {
        "content-type": "application/json",
        authorization: `Bearer ${callback.token}`,
      });
    };
    return { status: 202 };
  };

/** Answers by A2A, and says beside it what it thought, marked as that. */
const thinking: Handler = async (asked) => {
  const reply = await speaking((right) => right)(asked);
  if (reply === CUT) return reply;
  const answer = JSON.parse(String(reply.body));
  answer.result.parts.push({ kind: "text", text: "Or is it -1?", metadata: { adk_thought: true } });
  return json(200, answer);
};
const THOUGHT = "a2a and right, with what led to it";

/** Each way to answer, with what grading it again has to find. */
const WAYS: [name: string, protocol: string, answer: Handler, result: object][] = [
  ["native and right", "native", speaking((right) => right), RIGHT],
  ["native and wrong", "native", speaking(() => "-1"), WRONG],
  [
    "native, with a number that no double holds",
    "native",
    () => ({ ...json(200, null), body: '{"output": 1e999}' }),
    WRONG,
  ],
  ["native and by callback", "native", reporting((right) => right), RIGHT],
  ["native and by callback, under __proto__", "native", reporting((right) => ({ ["__proto__"]: right })), WRONG],
  ["native and failed", "native", () => json(500, {}), WRONG],
  ["native and without an answer", "native", () => CUT, WRONG],
  ["openai_chat and right", "openai_chat", speaking((right) => right), RIGHT],
  ["openai_chat and wrong", "openai_chat", speaking(() => "-1"), WRONG],
  ["a2a and right", "a2a", speaking((right) => right), RIGHT],
  ["a2a and wrong", "a2a", speaking(() => "-1"), WRONG],
  ["a2a and right, asked for later", "a2a", later((right) => right), RIGHT],
  [THOUGHT, "a2a", thinking, RIGHT],
  ["a2a_1 and right", "a2a_1", speaking((right) => right), RIGHT],
  ["a2a_1 and wrong", "a2a_1", speaking(() => "-1"), WRONG],
  ["a2a_1 and right, asked for later", "a2a_1", later((right) => right), RIGHT],
  ["a2a_1 and wrong, asked for later", "a2a_1", later(() => "-1"), WRONG],
  [
    "a2a_1 and asked for later, with a first answer beside it",
    "a2a_1",
    later((right) => right, { message: { parts: [{ text: "-1" }] } }),
    WRONG,
  ],
];

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  agent = await startAgent();
  const slugs = Object.keys(samples).filter((slug) => slug.startsWith("core-math-"));
  tasks = (await service.sql<{ id: string }>("select id from tasks where is_active and slug = any($1)", [slugs])).map(
    ({ id }) => id,
  );
  for (const [index, [name, agent_protocol, answer, result]] of WAYS.entries()) {
    agent.answer = answer;
    const id = await addRun(
      owner,
      await addAgent(owner, { endpoint: agent.url, agent_protocol }),
      tasks[index % 4] ?? "",
    );
    await service.settled();
    await reportFound?.();
    reportFound = null;
    await service.settled();
    screened.set(name, [id, result]);
  }
  agent.answer = () => json(200, { output: "42" });
  const suite = await addSuite(service, 1);
  const other = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), suite.tasks[0] ?? "");
  await service.settled();
  await reveal(service, (ms) => (time += ms));
  owner = await signedInAgain(service, owner);
  run = await published(service, owner, screened.get("native and right")?.[0] ?? "");
  fixed = await published(service, owner, other);
}, 60_000);

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

const answering = (body: object) => Buffer.from(JSON.stringify(body)).toString("base64");
const post = (body: object) => anonymous.call("POST", "/api/v1/evidence/regrade", body);

describe("a run of a minted task, once its epoch is revealed", () => {
  it.each(WAYS.map(([name]) => name))("is graded again as it was: %s", async (name) => {
    const [id, result] = screened.get(name) ?? ["", {}];
    const { body: shown } = await owner.call("GET", `/api/v1/runs/${id}`);
    expect(shown).toMatchObject({ evidence_signed: true, passed: "passed" in result && result.passed });
    expect((await post(await published(service, owner, id))).body).toEqual(result);
  });

  it("is graded again without the service, and by it without a look at the database", async () => {
    const { body } = await anonymous.call("GET", "/.well-known/jwks.json");
    expect(await regrade(run, body.keys)).toEqual({ status: "regraded", result: RIGHT });
    await service.settled();
    service.counters.reset();
    expect((await post(run)).body).toEqual(RIGHT);
    await service.settled();
    expect(service.counters.snapshot().db.requests).toBe(0);
  });

  const flipped = (hex: string | null) => (hex ?? "").replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
  it.each<[string, () => Partial<Published>, object]>([
    ["another statement's signature", () => ({ jws: `${run.jws.slice(0, -8)}AAAAAAAA` }), { valid: false }],
    ["a changed statement", () => ({ jws: changed(run.jws) }), { valid: false }],
    ["another secret", () => ({ epoch_secret: flipped(run.epoch_secret) }), { instance_matches: false }],
    ["another answer", () => ({ response_base64: answering({ output: "1" }) }), { response_matches: false }],
    ["another salt", () => ({ response_salt: flipped(run.response_salt) }), { response_matches: false }],
    ["no answer", () => ({ response_base64: null, response_salt: null }), { response_matches: false }],
    ["no salt", () => ({ response_salt: null }), { response_matches: false }],
  ])("is not graded by %s", async (_what, tampered, found) => {
    const holds = "valid" in found ? { instance_matches: false, response_matches: false } : {};
    expect((await post({ ...run, ...tampered() })).body).toEqual({ ...HOLDS, ...UNGRADED, ...holds, ...found });
  });

  it("does not agree with a statement that says something else, be it signed by the service itself", async () => {
    const lie = { passed: false, correctness: "0.0000" };
    const lying = await signed((subject) => ({ ...subject, result: { ...subject.result, ...lie } }));
    expect((await post({ ...run, jws: lying })).body).toEqual({ ...RIGHT, agrees: false });
  });
});

describe("a statement of the grading rules before", () => {
  it.each(["3", "4", "5", "6", "7", "8", "9"])("is graded again as it was: version %s", async (grader_version) => {
    const before = (subject: EvidenceStatement["credentialSubject"]) => ({
      ...subject,
      result: { ...subject.result, grader_version },
    });
    expect((await post({ ...run, jws: await signed(before) })).body).toEqual(RIGHT);
  });

  it("is graded again as it was where what led to the answer was a part of it", async () => {
    const thought = await published(service, owner, screened.get(THOUGHT)?.[0] ?? "");
    const result = { grader_type: "numeric", correctness: "0.0000", passed: false, grader_version: "8" };
    const before = await signed(
      (subject) => ({ ...subject, result: { ...subject.result, ...result } }),
      undefined,
      thought.jws,
    );
    expect((await post({ ...thought, jws: before })).body).toEqual(WRONG);
  });

  it("is graded again as it was where the answer has more items and members than one may have since", async () => {
    const { output } = JSON.parse(Buffer.from(run.response_base64 ?? "", "base64").toString());
    const response_base64 = answering({ output, trace: Array.from({ length: 60_000 }, () => 0) });
    const { digest } = await commit(
      Buffer.from(response_base64, "base64"),
      Buffer.from(run.response_salt ?? "", "hex"),
    );
    const before = (subject: EvidenceStatement["credentialSubject"]) => ({
      ...subject,
      result: { ...subject.result, grader_version: "7" },
      commitments: { ...subject.commitments, response: digest },
    });
    expect((await post({ ...run, response_base64, jws: await signed(before) })).body).toEqual(RIGHT);
  });
});

describe("what can't be graded again is refused with the reason", () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    [
      "a secret task",
      () => signed((subject) => ({ ...subject, task: { ...subject.task, is_secret: true } })),
      /secret task/,
    ],
    ["a task with a fixed text", async () => fixed.jws, /fixed text/],
    [
      "other grading rules",
      () => signed((subject) => ({ ...subject, result: { ...subject.result, grader_version: "1" } })),
      /other rules/,
    ],
    [
      "another version of the template",
      () =>
        signed((subject) => ({
          ...subject,
          task: { ...subject.task, template: { id: "math-ferry-reserve", version: 0 } },
        })),
      /another version/,
    ],
    ["no run", () => signed((subject) => subject, ["VerifiableCredential"]), /about no run/],
  ])("a statement of %s", async (_what, jws, why) => {
    const { status, body } = await post({ ...run, jws: await jws() });
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, "not_regradable", "/jws"]);
    expect(body.detail).toMatch(why);
  });

  it.each<[string, Partial<Record<keyof Published, unknown>>, number]>([
    ["a secret that is no hex", { epoch_secret: "z".repeat(64) }, 422],
    ["a short secret", { epoch_secret: "00" }, 422],
    ["a short salt", { response_salt: "00" }, 422],
    ["an answer that is no base64", { response_base64: "a" }, 422],
    ["an answer of over 1 MiB", { response_base64: Buffer.alloc(1024 * 1024 + 3).toString("base64") }, 422],
    ["a statement of over 64 KiB", { jws: "a".repeat(65_537) }, 422],
    ["far too much", { response_base64: "A".repeat(2 ** 21) }, 413],
    ["an answer of 1 MiB", { response_base64: Buffer.alloc(1024 * 1024).toString("base64") }, 200],
  ])("%s", async (_what, fields, status) => {
    expect((await post({ ...run, ...fields })).status).toBe(status);
  });
});

describe("from the packed command line", () => {
  let folder: string;
  let cli: ReturnType<typeof commandLine>;
  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = newFolder([]);
    await install("cli", buildCommandLine, folder);
    cli = commandLine(folder, { AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: owner.token });
    const [id] = screened.get("native and right") ?? [""];
    const kept = {
      "keys.json": "/.well-known/jwks.json",
      "epochs.json": "/api/v1/epochs?page_size=100",
      "answer.json": `/api/v1/runs/${id}/output`,
    };
    for (const [name, path] of Object.entries(kept)) writeFileSync(file(name), (await owner.call("GET", path)).text);
    const answer = JSON.parse(readFileSync(file("answer.json"), "utf8"));
    answer.response.body_base64 = answering({ output: "1" });
    writeFileSync(file("other.json"), JSON.stringify(answer));
    writeFileSync(file("later.json"), JSON.stringify({ items: [] }));
    const epochs = JSON.parse(readFileSync(file("epochs.json"), "utf8"));
    const forged = epochs.items.map((one: object) => ({ ...one, secret: "11".repeat(32) }));
    writeFileSync(file("forged.json"), JSON.stringify({ items: forged }));
    writeFileSync(file("run.jws"), run.jws);
    writeFileSync(file("fixed.jws"), fixed.jws);
    writeFileSync(
      file("lying.jws"),
      await signed((subject) => ({ ...subject, result: { ...subject.result, passed: false } })),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[string, string, string, string, number, RegExp]>([
    ["right", "run.jws", "answer.json", "epochs.json", 0, /✓ It is graded again as it was$/m],
    [
      "with another verdict",
      "lying.jws",
      "answer.json",
      "epochs.json",
      1,
      /✗ .*right at 1, which is passed; .* otherwise/,
    ],
    ["with another answer", "run.jws", "other.json", "epochs.json", 1, /✗ .*commits to another answer/],
    ["of an epoch that is not at hand", "run.jws", "answer.json", "later.json", 2, /– .*is not among those/],
    [
      "by a secret that was not committed to",
      "run.jws",
      "answer.json",
      "forged.json",
      2,
      /– .*not the one that was committed/,
    ],
    ["with a fixed text", "fixed.jws", "answer.json", "epochs.json", 2, /– .*fixed text/],
  ])("a run is graded again offline: %s", async (_what, jws, answer, epochs, code, said) => {
    const offline = ["--jwks", file("keys.json"), "--answer", file(answer), "--epochs", file(epochs)];
    const found = await cli(["verify", file(jws), "--regrade", ...offline], {
      AGENT_SCREENING_URL: "http://127.0.0.1:1",
    });
    expect(found, found.stderr).toMatchObject({ code, stdout: expect.stringMatching(said) });
    expect(found.stdout).toContain("It holds.");
  });

  it("a run is graded again from what the service shows its owner, and not for a stranger", async () => {
    const { code, stdout } = await cli(["verify", file("run.jws"), "--regrade", "--json"]);
    const regrading = { outcome: "agrees", detail: expect.any(String), correctness: 1, passed: true };
    expect([code, JSON.parse(stdout).regrading], stdout).toEqual([0, regrading]);
    const stranger = await cli(["verify", file("run.jws"), "--regrade"], { AGENT_SCREENING_KEY: "" });
    expect(stranger).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("What the agent answered is not shown"),
    });
    expect(await cli(["verify", file("run.jws"), "--regrade", "--jwks", file("keys.json")])).toMatchObject({ code: 2 });
  });
});

/** The statement of `run` with another subject, signed by the service's key. */
async function signed(
  change: (subject: EvidenceStatement["credentialSubject"]) => object,
  type?: string[],
  jws = run.jws,
): Promise<string> {
  const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
  const statement = claims(jws);
  const credentialSubject = change(statement.credentialSubject);
  const kid = keyId(service.settings["BASE_URL"] ?? "", active);
  return signStatement({ ...statement, ...(type === undefined ? {} : { type }), credentialSubject }, active, kid);
}

function claims(jws: string): EvidenceStatement {
  return JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString());
}

/** A statement whose verdict was turned after it was signed. */
function changed(jws: string): string {
  const [header, , signature] = jws.split(".");
  const statement = claims(jws);
  statement.credentialSubject.result.passed = false;
  return [header, Buffer.from(JSON.stringify(statement)).toString("base64url"), signature].join(".");
}
