import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildStatement } from "../../../shared/evidence/statement.ts";
import { NotThere } from "../../../shared/verify/log.ts";
import { bothRoots } from "../../../shared/verify/tree.ts";
import { reportOf, type StepName, Unread } from "../../../shared/verify/trail.ts";
import { verify, verifyRun } from "../../../shared/verify/verify.ts";
import { leafOf, treeHash } from "../../integration/transparency/verifier.ts";
import {
  entriesWith,
  honest,
  keys,
  kid,
  LOG_JWK,
  logOf,
  NOON,
  OTHER_JWK,
  passedRun,
  pinned,
  proofIn,
  readerOf,
  type Served,
  signed,
  statementOfRun,
} from "./support.ts";

const RUN = passedRun.run.id;
const CLAIMS = { id: `urn:uuid:${passedRun.agent.id}`, "result.passed": true, "result.correctness": "0.7500" };

/** Verifies the run as a page does, with the log's key pinned. */
const checked = (served: Served, logKey: string | null = pinned(LOG_JWK)) =>
  verifyRun(readerOf(served), RUN, { now: NOON, claims: CLAIMS, logKey });

/** A JWS with one part changed. */
function withPart(jws: string, part: number, change: (bytes: Buffer) => Buffer): string {
  const parts = jws.split(".");
  parts[part] = change(Buffer.from(parts[part] ?? "", "base64url")).toString("base64url");
  return parts.join(".");
}

const replaced = (from: string, to: string) => (bytes: Buffer) => Buffer.from(bytes.toString().replace(from, to));

/** JSON in another order than RFC 8785 wants, signed all the same. */
async function signedAsItIs(text: string): Promise<string> {
  const header = Buffer.from(JSON.stringify({ alg: "EdDSA", cty: "vc", kid, typ: "vc+jwt" })).toString("base64url");
  const message = `${header}.${Buffer.from(text).toString("base64url")}`;
  const signature = await crypto.subtle.sign("Ed25519", keys.active.privateKey, Buffer.from(message));
  return `${message}.${Buffer.from(signature).toString("base64url")}`;
}

describe("the statement of a run that an honest service serves", () => {
  it("passes every step, each with its inputs", async () => {
    const report = await checked(await honest());
    const steps =
      "sources form key signature content subject term request response proof checkpoint inclusion consistency";
    expect(report.steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(
      steps.split(" ").map((name) => `${name} passed`),
    );
    expect(report).toMatchObject({ verified: true, failed: null, index: 300 });
    expect(report.statement?.credentialSubject).toMatchObject({ run: { id: RUN } });
    expect(report.steps.filter(({ inputs }) => Object.keys(inputs).length === 0)).toEqual([]);
  });

  it.each([
    [1, null],
    [299_000, null],
    [301_000, "term"],
  ])("holds by a clock that is %i ms late, up to five minutes: %s", async (late, failed) => {
    const { statement } = await statementOfRun();
    const validFrom = new Date(NOON.getTime() + late).toISOString();
    expect(
      await checked({ ...(await honest()), jws: await signed({ ...statement, validFrom }), output: null, proof: null }),
    ).toMatchObject({ verified: failed === null, failed });
  });

  it("is verified as far as can be where the answer is shown to others, and the log has it not yet", async () => {
    const report = await checked({ ...(await honest()), output: null, proof: null });
    const skipped = report.steps.filter(({ outcome }) => outcome === "skipped").map(({ name }) => name);
    expect([report.verified, skipped]).toEqual([true, ["request", "response", "inclusion"]]);
  });
});

/** What somebody could serve in place of the truth, and the step that refuses it. */
const TAMPERED: [
  what: string,
  step: StepName,
  forge: (served: Served) => Promise<Partial<Served>> | Partial<Served>,
][] = [
  ["no statement", "sources", () => ({ jws: undefined as unknown as string })],
  ["a part in another spelling of base64", "form", ({ jws }) => ({ jws: `${jws}=` })],
  // The last of 86 characters has four bits that say nothing: A, B, C and D would all be the same byte.
  [
    "a part in which spare bits are set",
    "form",
    ({ jws }) => ({ jws: jws.slice(0, -1) + String.fromCharCode(jws.charCodeAt(jws.length - 1) + 1) }),
  ],
  ["a part that is missing", "form", ({ jws }) => ({ jws: jws.slice(0, jws.lastIndexOf(".")) })],
  [
    "a key in the header",
    "form",
    ({ jws }) => ({ jws: withPart(jws, 0, replaced("{", `{"jwk":${JSON.stringify(OTHER_JWK)},`)) }),
  ],
  ["no signature at all", "form", ({ jws }) => ({ jws: withPart(jws, 0, replaced("EdDSA", "none")) })],
  [
    "a statement by somebody else's key",
    "key",
    async () => ({ jws: await signed((await statementOfRun()).statement, OTHER_JWK) }),
  ],
  ["no keys", "key", () => ({ jwks: { keys: [] } })],
  ["another result", "signature", ({ jws }) => ({ jws: withPart(jws, 1, replaced("0.7500", "1.0000")) })],
  [
    "another key under the same name",
    "signature",
    () => ({ jwks: { keys: [{ kty: "OKP", crv: "Ed25519", x: OTHER_JWK.x, kid }] } }),
  ],
  [
    "bytes in another order, signed",
    "content",
    async ({ jws }) => {
      const content = JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()) as object;
      return { jws: await signedAsItIs(JSON.stringify(Object.fromEntries(Object.entries(content).toReversed()))) };
    },
  ],
  [
    "another issuer, signed",
    "content",
    async () => ({ jws: await signed({ ...(await statementOfRun()).statement, issuer: "did:web:other.example" }) }),
  ],
  [
    "the statement of another run",
    "subject",
    async () => ({
      jws: await signed(buildStatement({ ...passedRun, run: { ...passedRun.run, id: passedRun.task.id } })),
    }),
  ],
  [
    "a result that the page does not show",
    "subject",
    async () => ({
      jws: await signed(buildStatement({ ...passedRun, run: { ...passedRun.run, passed: false } })),
    }),
  ],
  [
    "a statement from tomorrow",
    "term",
    async () => ({
      jws: await signed({ ...(await statementOfRun()).statement, validFrom: "2026-11-22T12:00:00.000Z" }),
    }),
  ],
  [
    "another question",
    "request",
    ({ output }) => ({ output: JSON.parse(JSON.stringify(output).replace("eyJ0", "eyJ1")) as object }),
  ],
  [
    "another answer",
    "response",
    ({ output }) => ({ output: { ...output, response: (output as { request: object }).request } }),
  ],
  ["a proof that is none", "proof", () => ({ proof: "index 300" })],
  [
    "a checkpoint by another key",
    "checkpoint",
    async ({ jws }) => {
      const { before, index } = entriesWith(jws);
      return { proof: await proofIn(before, index, logOf(before, OTHER_JWK)) };
    },
  ],
  ["the size of the log", "checkpoint", ({ proof }) => ({ proof: proof?.replace("\n521\n", "\n522\n") ?? null })],
  ["another place", "inclusion", ({ proof }) => ({ proof: proof?.replace("index 300", "index 301") ?? null })],
  [
    "the proof of another entry",
    "inclusion",
    async ({ jws }) => ({ proof: await proofIn(entriesWith(jws).before, 7) }),
  ],
  [
    "a proof that is cut off",
    "inclusion",
    ({ proof }) => ({ proof: proof?.replace(/\n[\w+/]+=\n\n/, "\n\n") ?? null }),
  ],
  ["a log that has shrunk", "consistency", ({ jws }) => ({ log: logOf(entriesWith(jws).now.slice(0, 400)) })],
  [
    "a log that was forked, and signed anew",
    "consistency",
    ({ jws }) => ({ log: logOf(["{}", ...entriesWith(jws).now.slice(1)]) }),
  ],
  [
    "tiles of another log under the signed state",
    "consistency",
    ({ jws, log }) => {
      const other = logOf(["{}", ...entriesWith(jws).now.slice(1)]);
      return { log: async (path) => (path === "/log/checkpoint" ? log(path) : other(path)) };
    },
  ],
  [
    "a log that goes on otherwise than it signed",
    "consistency",
    ({ jws, log }) => {
      const other = logOf([...entriesWith(jws).now.slice(0, -1), "{}"]);
      return { log: async (path) => (path === "/log/checkpoint" ? log(path) : other(path)) };
    },
  ],
  [
    "a log without its tiles",
    "consistency",
    ({ log }) => ({
      log: async (path) => {
        if (path.startsWith("/log/tile")) throw new Error("404");
        return log(path);
      },
    }),
  ],
];

describe("a service that serves", () => {
  it.each(TAMPERED)("%s is refused at the step %s", async (_what, step, forge) => {
    const served = await honest();
    const report = await checked({ ...served, ...(await forge(served)) });
    expect([report.failed, report.verified, report.steps.at(-1)?.name]).toEqual([step, false, step]);
    expect(report.steps.at(-1)?.detail).toMatch(/\w/);
    const holds = ["sources", "form", "key", "signature"].includes(step);
    expect(report.statement === null).toBe(holds || step === "content");
  });

  it("its own log key to those who pinned another is refused", async () => {
    const served = await honest();
    const { before, now, index } = entriesWith(served.jws);
    const others = { logKey: pinned(OTHER_JWK), proof: await proofIn(before, index, logOf(before, OTHER_JWK)) };
    const forged = { ...served, ...others, log: logOf(now, OTHER_JWK) };
    expect((await checked(forged, null)).verified).toBe(true);
    expect((await checked(forged)).failed).toBe("checkpoint");
  });

  it("a statement with any one byte changed is refused", async () => {
    const served = await honest();
    await fc.assert(
      fc.asyncProperty(fc.nat(served.jws.length - 1), fc.constantFrom("A", "-", "z", ".", "é"), async (at, char) => {
        const jws = served.jws.slice(0, at) + char + served.jws.slice(at + 1);
        fc.pre(jws !== served.jws);
        const { verified, failed } = await checked({ ...served, jws });
        expect([verified, failed === null]).toEqual([false, false]);
      }),
      { numRuns: 150 },
    );
  });
});

describe("what somebody hands over", () => {
  const given = async () => {
    const served = await honest();
    const options = { now: NOON, jwks: JSON.stringify(served.jwks), logKey: served.logKey };
    const extra = `extra ${Buffer.from(served.jws).toString("base64")}\n`;
    return { served, options, whole: served.proof?.replace("\n", `\n${extra}`) ?? "" };
  };

  it("is recognised as it comes, and checked offline as far as it brings what is needed", async () => {
    const { served, options, whole } = await given();
    const shown = { jws: served.jws, log: { index: 300, proof: served.proof } };
    const answer = JSON.stringify(shown).replaceAll(/.{80}/g, "$&\n");
    const checkpoint = whole.slice(whole.indexOf("\n\n") + 2);
    const seen = await Promise.all(
      [served.jws, ` "${served.jws}"\n`, answer, whole, whole.replaceAll("\n", "\r\n").trimEnd(), checkpoint].map(
        async (text) => {
          const { verified, index, steps } = await verify(text, { ...options, get: null });
          return [verified, index, steps.filter(({ outcome }) => outcome === "skipped").map(({ name }) => name)];
        },
      ),
    );
    const proven = [true, 300, ["consistency"]];
    const alone = [true, null, ["inclusion"]];
    expect(seen).toEqual([alone, alone, proven, proven, proven, [true, null, ["consistency"]]]);
  });

  it("is refused where it shows another statement, key or place than the signed one beside it", async () => {
    const { served, options } = await given();
    const statement: unknown = JSON.parse(Buffer.from(served.jws.split(".")[1] ?? "", "base64url").toString());
    const answer = { jws: served.jws, statement, verified: true };
    const forged = JSON.stringify(answer).replace('"passed":true', '"passed":false');
    const by = async (text: string) => {
      const { verified: holds, failed } = await verify(text, { ...options, get: null });
      return [holds, failed];
    };
    expect(await by(JSON.stringify(answer, null, 2))).toEqual([true, null]);
    expect(forged).not.toBe(JSON.stringify(answer));
    expect(await by(forged)).toEqual([false, "subject"]);
    expect(await by(JSON.stringify({ ...answer, statement: "passed" }))).toEqual([false, "subject"]);
    expect(await by(JSON.stringify({ ...answer, kid }))).toEqual([true, null]);
    expect(await by(JSON.stringify({ ...answer, kid: `${kid}0` }))).toEqual([false, "subject"]);
    expect(await by(JSON.stringify({ ...answer, log: { index: 3, proof: served.proof } }))).toEqual([false, "proof"]);
    // What a service shows that can't verify it, as its key is retired there.
    expect(await by(JSON.stringify({ ...answer, statement: {} }))).toEqual([true, null]);
  });

  it("is checked against the log as it is now where there is a way to it", async () => {
    const { served, options, whole } = await given();
    const get = readerOf(served);
    for (const text of [served.jws, whole, whole.slice(whole.indexOf("\n\n") + 2)]) {
      const { verified, steps } = await verify(text, { ...options, get });
      expect([verified, steps.at(-1)]).toEqual([
        true,
        expect.objectContaining({ name: "consistency", outcome: "passed" }),
      ]);
    }
    const forked = readerOf({ ...served, log: logOf(["{}", ...entriesWith(served.jws).now.slice(1)]) });
    expect((await verify(whole, { ...options, get: forked })).failed).toBe("consistency");
  });

  it("is held to a state that a cache still has, older than its own, by the tiles of the log", async () => {
    const { served, options, whole } = await given();
    const { now } = entriesWith(served.jws);
    const older = (entries: readonly string[], tiles = served.log): Served["log"] => {
      const log = logOf(entries);
      return (path) => (path === "/log/checkpoint" ? log(path) : tiles(path));
    };
    const last = async (log: Served["log"]) => {
      const { failed, steps } = await verify(whole, { ...options, get: readerOf({ ...served, log }) });
      return [failed, steps.at(-1)?.detail];
    };
    for (const size of [0, 1, 256, 400, 520])
      expect(await last(older(now.slice(0, size)))).toEqual([null, expect.stringMatching(/older one, without \d+/)]);
    const forked = ["{}", ...now.slice(1, 400)];
    expect(await last(older(forked))).toEqual(["consistency", expect.stringMatching(/was forked/)]);
    const shrunk = older(now.slice(0, 400), async (path) => {
      throw new NotThere(`${path} answers 404`);
    });
    expect(await last(shrunk)).toEqual(["consistency", expect.stringMatching(/has shrunk: it had 521 .* has 400/)]);
  });

  it("is not refused, and not verified either, while the service does not give what that takes", async () => {
    const { served, options, whole } = await given();
    const down = async (path: string) => {
      if (path.startsWith("/log/tile")) throw new Unread(`${path} answers 503.`);
      return served.log(path);
    };
    const { verified, failed, steps } = await verify(whole, { ...options, get: readerOf({ ...served, log: down }) });
    const unread = steps.filter((step) => step.unread).map(({ detail }) => detail);
    expect([verified, failed, unread]).toEqual([false, "consistency", [expect.stringMatching(/answers 503\.$/)]]);
    const forked = await verify(whole, { ...options, get: readerOf({ ...served, log: logOf(["{}"]) }) });
    expect(forked.steps.filter((step) => step.unread)).toEqual([]);
  });

  it.each([
    ["the log's own", null],
    ["a made-up one", "nowhere.example/log\n7\nAAAA\n\n\u2014 nowhere.example/log AAAA\n"],
  ])("is not verified by being a checkpoint where the key of the log is not known: %s", async (_what, madeUp) => {
    const { served, options, whole } = await given();
    const text = madeUp ?? whole.slice(whole.indexOf("\n\n") + 2);
    for (const get of [null, readerOf(served)]) {
      const { verified, failed, steps } = await verify(text, { ...options, logKey: null, get });
      const gone = steps.map(({ name, outcome }) => `${name} ${outcome}`);
      expect([verified, failed, gone]).toEqual([false, null, ["kind passed", "checkpoint skipped"]]);
    }
    expect(await verify(served.jws, { ...options, logKey: null, get: null })).toMatchObject({ verified: true });
  });

  it("is not verified by having been read", async () => {
    const report = await reportOf((trail) => trail.go("sources", {}, async () => ["All of it was read.", undefined]));
    expect(report).toMatchObject({ verified: false, failed: null, steps: [{ outcome: "passed" }] });
  });

  it.each([
    "",
    "nothing",
    "{}",
    '{"jws": 1}',
    "a.b.c",
    "c2sp.org/tlog-proof@v1\n\n",
    "x\n\n\u2014 y z",
    "\ud800",
    "[]",
  ])("is refused without a word too many: %j", async (text) => {
    const { options } = await given();
    const { verified, failed } = await verify(text, { ...options, get: null });
    expect([verified, ["kind", "form", "checkpoint"].includes(failed ?? "")]).toEqual([false, true]);
  });
});

describe("two states of a log", () => {
  it("are both led to by the same hashes, for any sizes", async () => {
    const leaves = Array.from({ length: 600 }, (_, at) => leafOf(Buffer.from(String(at))));
    const subtrees = async (start: number, count: number) =>
      Uint8Array.from(treeHash(leaves.slice(start, start + count)));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 }), async (a, b) => {
        const [before, now] = [Math.min(a, b), Math.max(a, b)];
        const [earlier, later] = await bothRoots(before, now, subtrees);
        expect(Buffer.from(earlier)).toEqual(treeHash(leaves.slice(0, before)));
        expect(Buffer.from(later)).toEqual(treeHash(leaves.slice(0, now)));
      }),
      {
        examples: [
          [1, 1],
          [256, 256],
          [255, 257],
          [512, 600],
        ],
      },
    );
  });
});
