import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signatures } from "../../../shared/webhooks/sign.ts";
import { createCheck, type Event, startReceiver } from "../../agents/receiver.ts";

const SECRET = "a-secret-of-the-tests";
const NOW = 1_795_251_600;
const EVENT = {
  id: "01938e7a-0000-7000-8000-000000000001",
  type: "agent.score_updated",
  created_at: "2026-11-21T09:00:00.000Z",
  data: { score: 61.5 },
};

/** A delivery as a receiver gets it, and when. */
interface Delivery {
  headers: Record<string, string>;
  body: Buffer;
  now: number;
}
type Case = [what: string, accepted: boolean, delivery: Delivery];

let ids = 0;

/** A delivery as the service makes it, signed; each has an id of its own unless it is given. */
function delivery({ secret = SECRET, at = NOW, now = NOW, id = "", body = Buffer.from(JSON.stringify(EVENT)) } = {}) {
  ids += 1;
  const deliveryId = id || `01938e7a-0000-7000-8000-${String(ids).padStart(12, "0")}`;
  const signed = signatures(secret, { deliveryId, timestamp: at, body });
  const own = { "X-Service-Delivery": deliveryId, "X-Service-Timestamp": String(at), ...signed };
  const headers = Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]));
  return { headers, body, now };
}

/** The same delivery with some headers changed; those that are undefined are left out. */
function altered(given: Delivery, headers: Record<string, string | undefined>): Delivery {
  const all = Object.entries({ ...given.headers, ...headers });
  return {
    ...given,
    headers: Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined)),
  };
}

const first = delivery();
const early = delivery({ at: NOW + 200 });
const genuine = delivery();
const v2 = genuine.headers["x-service-signature-v2"] ?? "";
const legacy = genuine.headers["x-service-signature"] ?? "";
const id = genuine.headers["x-service-delivery"] ?? "";
const text = genuine.body.toString();
const dot = text.indexOf(".");

/** What comes in, in this order; the rows about `genuine` are all of the same delivery. */
const CASES: Case[] = [
  ["a genuine delivery", true, first],
  ["the same at once again", false, first],
  ["the same while its timestamp passes", false, { ...first, now: NOW + 300 }],
  ["a new id with the same event", true, delivery()],
  ["bytes that are no text", true, delivery({ body: Buffer.from([0xff, 0x00, 0x0a]) })],
  ["no body", true, delivery({ body: Buffer.alloc(0) })],
  ["a timestamp of five minutes ago", true, delivery({ at: NOW - 300 })],
  ["a timestamp of over five minutes ago", false, delivery({ at: NOW - 301 })],
  ["a timestamp five minutes ahead", true, delivery({ at: NOW + 300 })],
  ["a timestamp over five minutes ahead", false, delivery({ at: NOW + 301 })],
  ["a timestamp ahead", true, early],
  ["the same eight minutes later, while its timestamp passes", false, { ...early, now: NOW + 490 }],
  ["a changed byte", false, { ...genuine, body: Buffer.from(text.replace("61.5", "61.6")) }],
  ["a byte more", false, { ...genuine, body: Buffer.from(`${text} `) }],
  ["another timestamp", false, altered(genuine, { "x-service-timestamp": String(NOW - 1) })],
  ["another delivery id", false, altered(genuine, { "x-service-delivery": delivery().headers["x-service-delivery"] })],
  [
    "the dots moved into the body",
    false,
    {
      ...altered(genuine, { "x-service-delivery": `${id}.${text.slice(0, dot)}` }),
      body: Buffer.from(text.slice(dot + 1)),
    },
  ],
  ["another secret", false, delivery({ secret: `${SECRET}s` })],
  ["the legacy signature alone", false, altered(genuine, { "x-service-signature-v2": undefined })],
  ["the legacy signature as v2", false, altered(genuine, { "x-service-signature-v2": legacy.replace("sha256", "v2") })],
  ["a v2 signature without its prefix", false, altered(genuine, { "x-service-signature-v2": v2.slice(3) })],
  ["a v2 signature cut short", false, altered(genuine, { "x-service-signature-v2": v2.slice(0, -1) })],
  ["upper-case hex", false, altered(genuine, { "x-service-signature-v2": `v2=${v2.slice(3).toUpperCase()}` })],
  ["no timestamp", false, altered(genuine, { "x-service-timestamp": undefined })],
  ["no delivery id", false, altered(genuine, { "x-service-delivery": undefined })],
  ["no signature of any kind", false, { ...genuine, headers: {} }],
  ["the genuine one after all those forgeries of it", true, genuine],
];
const EXPECTED = CASES.map(([what, accepted]) => ({ what, accepted }));

/** The cases with what somebody said to each. */
const judged = (verdicts: boolean[]) => CASES.map(([what], index) => ({ what, accepted: verdicts[index] }));

describe("the receiver", () => {
  test("takes genuine new deliveries and no other", () => {
    let now = NOW;
    const check = createCheck({ secret: SECRET, now: () => new Date(now * 1000) });
    const verdicts = CASES.map(([, , given]) => {
      now = given.now;
      return check(given.headers, given.body) === null;
    });
    expect(judged(verdicts)).toEqual(EXPECTED);
  });

  test("answers 204, and 401 to what it refuses, and hands each event on once", async () => {
    const taken: Event[] = [];
    const take = (event: Event) => void taken.push(event);
    const receiver = await startReceiver({ secret: SECRET, now: () => new Date(NOW * 1000), take });
    try {
      const send = async (given: Delivery, method = "POST") => {
        const body = method === "GET" ? null : new Uint8Array(given.body);
        return (await fetch(receiver.url, { method, headers: given.headers, body })).status;
      };
      const one = delivery();
      expect([
        await send(one),
        await send(one),
        await send(altered(delivery(), { "x-service-signature-v2": "" })),
      ]).toEqual([204, 401, 401]);
      expect([await send(delivery({ body: Buffer.from("{}") })), await send(delivery(), "GET")]).toEqual([400, 405]);
      expect(taken).toEqual([EVENT]);
    } finally {
      await receiver.close();
    }
  });
});

/** Whether this machine has a Python to run what is shown for it. */
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("what the guide shows of receiving webhooks", () => {
  let directory: string;
  let section: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "receiver-"));
    section = await readFile(new URL("../../../functions/site/guides/receive-webhooks.md", import.meta.url), "utf8");
  });

  afterAll(() => rm(directory, { recursive: true }));

  /** Runs all cases through the snippet in this language, by a program that calls it as a receiver would. */
  async function run(language: string, files: [snippet: string, program: string], code: string, command: string) {
    const snippet = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(section)?.[1] ?? "";
    const [module, program] = files.map((name) => join(directory, name)) as [string, string];
    await Promise.all([writeFile(module, snippet), writeFile(program, code)]);
    const input = CASES.map(([, , { headers, body, now }]) => [SECRET, headers, body.toString("base64"), now]);
    return judged(JSON.parse(execFileSync(command, [program], { input: JSON.stringify(input) }).toString()));
  }

  test("in TypeScript takes genuine new deliveries and no other", async () => {
    const code = `import { readFileSync } from "node:fs";
      import { accept } from "./accept.ts";
      const cases = JSON.parse(readFileSync(0, "utf8"));
      const verdicts = cases.map(([secret, headers, body, now]) =>
        accept(secret, new Headers(headers), Buffer.from(body, "base64"), now));
      console.log(JSON.stringify(verdicts));`;
    expect(await run("ts", ["accept.ts", "all.mjs"], code, process.execPath)).toEqual(EXPECTED);
  });

  test("in Python takes genuine new deliveries and no other", async ({ skip }) => {
    skip(!hasPython, "there is no python3 on this machine");
    const code = [
      "import base64, json, sys",
      "from accept import accept",
      "cases = json.load(sys.stdin)",
      "print(json.dumps([accept(s, h, base64.b64decode(b), n) for s, h, b, n in cases]))",
    ].join("\n");
    expect(await run("python", ["accept.py", "all.py"], code, "python3")).toEqual(EXPECTED);
  });
});
