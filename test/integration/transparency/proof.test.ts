import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catchUp } from "../../../shared/transparency/catch-up.ts";
import { integrate } from "../../../shared/transparency/integrate.ts";
import type { Context } from "../../../shared/platform/context.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { type Listening, listen } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, addRun, addSuite, startAgent, type TestSuite } from "../runs/support.ts";
import { addEntries, forge, reader } from "./support.ts";
import { audit, type Get, openCheckpoint, verifyProof } from "./verifier.ts";

const PROOF = "application/vnd.c2sp.tlog-proof";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let anonymous: Caller;
let ctx: Context;
let get: Get;
let vkey: string;

beforeAll(async () => {
  service = await startService();
  [owner, endpoint, suite] = [await newUser(service, { plan: "pro" }), await startAgent(), await addSuite(service, 1)];
  anonymous = caller(service);
  ctx = contextOf(service, () => new Date());
  get = reader(service);
  vkey = (await get("key")).toString();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function screened(): Promise<string> {
  const run = await addRun(owner, await addAgent(owner, { endpoint: endpoint.url }), suite.tasks[0] ?? "");
  await service.settled();
  return `/api/v1/runs/${run}/evidence`;
}

const entryOf = (jws: string) => `{"kind":"run","sha256":"${createHash("sha256").update(jws).digest("hex")}"}`;

describe("the evidence of a run", () => {
  it("says where the log has it once it does, in one round trip, and proves that offline wherever it stands", async () => {
    const path = await screened();
    expect((await anonymous.call("GET", path)).body.log).toBeNull();
    expect((await anonymous.call("GET", `${path}?format=tlog-proof`)).status).toBe(404);
    let earlier: { index: number; proof: string } | undefined;
    for (const more of [0, 3, 250, 600]) {
      await addEntries(service, more);
      await integrate(ctx);
      const before = service.counters.db.requests;
      const { body } = await anonymous.call("GET", path);
      expect(service.counters.db.requests - before).toBe(1);
      const { index, proof } = body.log;
      expect(verifyProof(proof, entryOf(body.jws), vkey)).toBe(index);
      expect((await audit(get, vkey))[index]).toBe(entryOf(body.jws));
      earlier ??= body.log;
      expect(index).toBe(earlier?.index);
      // A proof that was kept goes on to hold: it brings the checkpoint that it is of.
      expect(verifyProof(earlier?.proof ?? "", entryOf(body.jws), vkey)).toBe(index);
    }
  });

  it("comes with the proof as one text that needs nothing else, asked for by type or by parameter", async () => {
    const path = await screened();
    await integrate(ctx);
    const { body } = await anonymous.call("GET", path);
    const answers = [
      await anonymous.call("GET", path, undefined, { accept: PROOF }),
      await anonymous.call("GET", `${path}?format=tlog-proof`),
    ];
    for (const { headers, text } of answers) {
      expect(headers.get("content-type")).toBe(PROOF);
      const jws = Buffer.from(/^extra (.+)$/m.exec(text)?.[1] ?? "", "base64").toString();
      expect(jws).toBe(body.jws);
      expect(verifyProof(text, entryOf(jws), vkey)).toBe(body.log.index);
    }
  });

  it("is not proven by another's proof, a changed one, a longer one, a shorter one, or a stale one under a new state", async () => {
    const path = await screened();
    await integrate(ctx);
    const { body } = await anonymous.call("GET", path);
    const { proof, index } = body.log;
    await addEntries(service, 5);
    await integrate(ctx);
    const now = (await anonymous.call("GET", path)).body.log.proof;
    const [head = "", note = ""] = [proof.slice(0, proof.indexOf("\n\n")), now.slice(now.indexOf("\n\n"))];
    const lines = head.split("\n");
    const cases: [string, string][] = [
      [proof, entryOf("another")],
      [proof.replace(`index ${index}`, `index ${index - 1}`), entryOf(body.jws)],
      [[...lines, lines.at(-1)].join("\n") + note, entryOf(body.jws)],
      [lines.slice(0, -1).join("\n") + proof.slice(head.length), entryOf(body.jws)],
      [head + note, entryOf(body.jws)],
    ];
    for (const [text, entry] of cases) expect(() => verifyProof(text, entry, vkey)).toThrow(/proof/);
  });

  it("enters the log later where it was signed before there was one, and once only", async () => {
    const path = await screened();
    const { jws } = (await anonymous.call("GET", path)).body;
    await service.sql("alter table log_entries disable trigger user");
    await service.sql("delete from log_entries where position is null");
    await service.sql("alter table log_entries enable trigger user");
    await integrate(ctx);
    expect((await anonymous.call("GET", path)).body.log).toBeNull();
    for (let again = 0; again < 2; again += 1) {
      for (let cursor: string | null = null, at = 0; at === 0 || cursor !== null; at += 1) {
        cursor = (await catchUp(ctx, cursor)).next;
      }
      await integrate(ctx);
      const entries = await audit(get, vkey);
      expect(entries.filter((entry) => entry === entryOf(jws))).toHaveLength(1);
      expect(new Set(entries).size).toBe(entries.length);
    }
  });
});

describe("npm run log:monitor", () => {
  const script = fileURLToPath(new URL("../../commands/log-monitor.ts", import.meta.url));
  let folder: string;
  let other: Listening;
  /** What the address of the monitor serves. */
  let served: Get;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "monitor-"));
    other = await listen(async ({ url }) => {
      const body = await served(url.pathname.replace("/log/", "")).catch(() => null);
      return { status: body === null ? 404 : 200, headers: {}, body: body ?? "" };
    });
  });

  afterAll(async () => {
    await other.close();
    rmSync(folder, { recursive: true });
  });

  const monitor = (base: string): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((done) => {
      const args = [script, base, join(folder, "state.json")];
      const child = execFile(process.execPath, args, (_error, stdout, stderr) =>
        done({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });

  it("prints what came, each entry once, and refuses a fork, a log that shrank and one of another key", async () => {
    const all = await audit(get, vkey);
    const printed = (entries: readonly string[], from: number) =>
      entries.map((entry, at) => `${from + at}\t${entry}\n`).join("");
    const first = await monitor(service.url);
    expect(first).toMatchObject({ code: 0, stdout: printed(all, 0) });
    await addEntries(service, 300);
    await integrate(ctx);
    const later = await audit(get, vkey);
    expect(await monitor(service.url)).toMatchObject({ code: 0, stdout: printed(later.slice(all.length), all.length) });
    expect(await monitor(service.url)).toMatchObject({ code: 0, stdout: "" });

    const { origin } = openCheckpoint((await get("checkpoint")).toString(), vkey);
    const own = service.settings["LOG_SIGNING_KEY"] ?? "";
    const another = JSON.stringify((JSON.parse(service.settings["SIGNING_KEYS"] ?? "") as { keys: object[] }).keys[0]);
    const refused: [Get, number, RegExp][] = [
      [forge(["{}", ...later.slice(1), "{}"], own, origin), 1, /does not continue/],
      [forge(later.slice(0, -1), own, origin), 1, /shrank/],
      // At another address it may just as well be another log, and the file the wrong one.
      [forge([...later, "{}"], another, origin), 2, /is of the log of/],
    ];
    for (const [log, exit, reason] of refused) {
      served = log;
      const { code, stdout, stderr } = await monitor(other.url);
      expect([code, stdout]).toEqual([exit, ""]);
      expect(stderr).toMatch(reason);
    }
    served = forge([...later, '{"kind":"next"}'], own, origin);
    expect(await monitor(other.url)).toMatchObject({ code: 0, stdout: `${later.length}\t{"kind":"next"}\n` });
  });
});
