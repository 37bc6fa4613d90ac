import { inject } from "vitest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reencrypt } from "../../../migrations/reencrypt.ts";
import { seed } from "../../../migrations/seed.ts";
import { createApplication } from "../../../functions/app.ts";
import { MINTING, openMinting, sealMinting } from "../../../shared/catalogue/minting.ts";
import { mintSuite, secretSuites } from "../../../shared/suites/secret/index.ts";
import { decrypt, encrypt, keyNameOf, type Keyring, parseKeyring } from "../../../shared/platform/encryption.ts";
import { signatures } from "../../../shared/webhooks/sign.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { TEST_ENCRYPTION_KEY, TEST_KEYS } from "../../stack/vitest-setup.ts";
import { addAgent } from "../runs/support.ts";
import { announce, headersOf, SECRET, startReceiver, subscribe } from "../webhooks/support.ts";

const NEW = Buffer.alloc(32, 9).toString("base64");
/** The ring of a rotation: the new key before the one without a name. */
const BOTH = { DATA_ENCRYPTION_KEYS: `2027:${NEW}`, DATA_ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
const BOTH_KEYS = parseKeyring(BOTH);
const NEW_KEYS = parseKeyring({ DATA_ENCRYPTION_KEYS: `2027:${NEW}` });

let service: TestService;
let owner: User;
let receiver: Consumer;
let url: string;

beforeAll(async () => {
  service = await startService({ settings: BOTH });
  owner = await newUser(service, { plan: "enterprise" });
  receiver = await startReceiver();
  url = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}${new URL(service.settings["DATABASE_URL"] ?? "").pathname}`;
});

afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

/** Every ciphertext that the database holds, with the name of its key. */
async function names(): Promise<(string | null)[]> {
  const rows = await service.sql<{ sealed: string }>(
    `select secret as sealed from webhooks where secret is not null union all select sealed from service_secrets
     union all select auth_header ->> 'sealed' from agents where auth_header is not null
     union all select secret from totp_factors union all select sealed from epochs union all select body ->> 'token' from outbox where consumer = 'mail' and body ? 'token'`,
  );
  return rows.map(({ sealed }) => keyNameOf(sealed));
}

/** Webhooks of old, the header of an agent, a second factor, three epochs, and a mail that waits: all under the key without a name. */
async function oldSecrets(count: number): Promise<void> {
  await service.sql(
    `insert into webhooks (user_id, url, event_types, secret) select $1, 'http://127.0.0.1:9/', '{run.failed}', s
     from unnest($2::text[]) s`,
    [owner.id, Array.from({ length: count }, (_, n) => encrypt(`old ${n}`, TEST_KEYS, "webhook"))],
  );
  await service.sql(
    "insert into outbox (consumer, id, body, due_at) values ('mail', uuidv7(), $1, now() + interval '1 day')",
    [{ template: "verify_email", token: encrypt("a token", TEST_KEYS, "mail") }],
  );
  await service.sql("update agents set auth_header = $1", [
    { name: "X-Key", sealed: encrypt("an agent's", TEST_KEYS, "agent auth header") },
  ]);
  await service.sql("delete from totp_factors");
  await service.sql("insert into totp_factors (user_id, secret) values ($1, $2)", [
    owner.id,
    encrypt("SECRET", TEST_KEYS, "totp"),
  ]);
  await service.sql("delete from epochs");
  await service.sql(
    `insert into epochs (kind, name, starts_at, ends_at, sealed, commitment, created_at)
     select kind, name, '2026-11-22', '2026-11-23', sealed, '', now()
     from unnest('{open,sealed,open}'::text[], '{one,one,two}'::text[], $1::text[]) x (kind, name, sealed)`,
    [Array.from({ length: 3 }, (_, n) => encrypt(`epoch ${n}`, TEST_KEYS, "epoch"))],
  );
}

describe("the keys for secrets at rest", () => {
  it("sign deliveries whichever of them a secret is under, and encrypt by the first", async () => {
    const agent = await addAgent(owner);
    const hook = await subscribe(owner, receiver.url, { agent_id: agent });
    const [stored] = await service.sql<{ secret: string }>("select secret from webhooks where id = $1", [hook.id]);
    expect(stored?.secret).toMatch(/^2027\.[A-Za-z0-9+/]+=*$/);
    for (const keys of [NEW_KEYS, TEST_KEYS]) {
      receiver.seen.length = 0;
      await service.sql("update webhooks set secret = $2 where id = $1", [hook.id, encrypt(SECRET, keys, "webhook")]);
      await announce(service, agent);
      const [request] = receiver.seen;
      if (request === undefined) throw new Error("nothing was delivered");
      const { delivery, timestamp, v2 } = headersOf(request);
      const wanted = signatures(SECRET, { deliveryId: delivery, timestamp: Number(timestamp), body: request.body });
      expect(v2).toBe(wanted["X-Service-Signature-V2"]);
    }
    await service.sql("delete from webhooks");
  });

  it("are taken from either setting, and a service with neither or a bad one says so without its value", () => {
    const { DATA_ENCRYPTION_KEY: _one, DATA_ENCRYPTION_KEYS: _more, ...none } = service.settings;
    const start = (settings: Record<string, string>) => () => createApplication({ ...none, ...settings });
    expect(start({ DATA_ENCRYPTION_KEY: NEW })).not.toThrow();
    expect(start({ DATA_ENCRYPTION_KEYS: `a:${NEW}, b:${TEST_ENCRYPTION_KEY}` })).not.toThrow();
    expect(start({})).toThrow(/DATA_ENCRYPTION_KEYS: is missing/);
    for (const bad of [NEW, `a:${NEW},a:${NEW}`, `a.b:${NEW}`, `a:${NEW.slice(1)}`, `a:${NEW},`, ":", "a:"]) {
      expect(start({ DATA_ENCRYPTION_KEYS: bad }), bad).toThrow(/DATA_ENCRYPTION_KEYS: /);
      expect(start({ DATA_ENCRYPTION_KEYS: bad }), bad).not.toThrow(NEW.slice(1));
    }
  });

  it("open what names none of them, and nothing under a key that is gone or for another purpose", () => {
    const old = encrypt("text", TEST_KEYS, "webhook");
    expect(decrypt(old, parseKeyring({ DATA_ENCRYPTION_KEYS: `n:${NEW},o:${TEST_ENCRYPTION_KEY}` }), "webhook")).toBe(
      "text",
    );
    const given = parseKeyring({ DATA_ENCRYPTION_KEYS: `o:${TEST_ENCRYPTION_KEY},n:${NEW}` });
    // By an isolate of before the single key was given a name.
    expect(decrypt(encrypt("text", given, "webhook"), TEST_KEYS, "webhook")).toBe("text");
    // Two keys of one day have one name, and it may be the older one that is given another.
    for (const name of ["day", "other"]) {
      const renamed = parseKeyring({ DATA_ENCRYPTION_KEYS: `day:${NEW},older:${TEST_ENCRYPTION_KEY}` });
      const before = parseKeyring({ DATA_ENCRYPTION_KEYS: `${name}:${TEST_ENCRYPTION_KEY}` });
      expect(decrypt(encrypt("text", before, "webhook"), renamed, "webhook")).toBe("text");
    }
    expect(() => decrypt(old, NEW_KEYS, "webhook")).toThrow();
    expect(() => decrypt(old, TEST_KEYS, "mail")).toThrow();
    expect(() => decrypt(encrypt("text", NEW_KEYS, "mail"), TEST_KEYS, "mail")).toThrow("2027 is not in");
  });
});

describe("encrypting anew", () => {
  it("goes through everything in pieces, can be cut off and repeated, and then the old key is not needed", async () => {
    await oldSecrets(12);
    const cut = reencrypt(url, BOTH_KEYS, {
      size: 5,
      progress: () => {
        throw new Error("cut off");
      },
    });
    await expect(cut).rejects.toThrow("cut off");
    const between = await names();
    expect([between.filter((name) => name === "2027").length, between.length]).toEqual([5, 19]);
    const pieces: [string, number][] = [];
    const rest = await reencrypt(url, BOTH_KEYS, {
      size: 5,
      progress: (name, { changed }) => pieces.push([name, changed]),
    });
    expect(rest).toEqual({ changed: 14, failed: [] });
    expect(pieces.map(([, changed]) => changed)).toEqual([0, 5, 2, 1, 1, 1, 3, 1]);
    expect(new Set(await names())).toEqual(new Set(["2027"]));
    expect(await reencrypt(url, BOTH_KEYS)).toEqual({ changed: 0, failed: [] });
    const kept = await service.sql<{ secret: string }>("select secret from webhooks");
    expect(new Set(kept.map(({ secret }) => decrypt(secret, NEW_KEYS, "webhook")))).toEqual(
      new Set(Array.from({ length: 12 }, (_, n) => `old ${n}`)),
    );
    const secrets = await service.sql<{ sealed: string }>("select sealed from epochs order by name, kind");
    expect(secrets.map(({ sealed }) => decrypt(sealed, NEW_KEYS, "epoch"))).toEqual(["epoch 0", "epoch 1", "epoch 2"]);
    const [agent] = await service.sql<{ sealed: string }>("select auth_header ->> 'sealed' as sealed from agents");
    expect(decrypt(agent?.sealed ?? "", NEW_KEYS, "agent auth header")).toBe("an agent's");
    const [factor] = await service.sql<{ secret: string }>("select secret from totp_factors");
    expect(decrypt(factor?.secret ?? "", NEW_KEYS, "totp")).toBe("SECRET");
    const [mail] = await service.sql<{ token: string }>("delete from outbox returning body ->> 'token' as token");
    expect(decrypt(mail?.token ?? "", NEW_KEYS, "mail")).toBe("a token");
    await service.sql("delete from webhooks");
  });

  it("leaves what is changed at the same moment as it was changed", async () => {
    await oldSecrets(40);
    const hooks = await service.sql<{ id: string }>("select id from webhooks");
    const [done] = await Promise.all([
      reencrypt(url, BOTH_KEYS, { size: 2 }),
      ...hooks.map(({ id }, n) =>
        owner.call(
          "POST",
          `/api/v1/webhooks/${id}/rotate-secret`,
          { secret: `rotated-secret-${n}` },
          { "cf-connecting-ip": `172.22.0.${n}` },
        ),
      ),
    ]);
    expect(done.failed).toEqual([]);
    const kept = await service.sql<{ id: string; secret: string }>("select id, secret from webhooks");
    const texts = Object.fromEntries(kept.map(({ id, secret }) => [id, decrypt(secret, NEW_KEYS, "webhook")]));
    expect(texts).toEqual(Object.fromEntries(hooks.map(({ id }, n) => [id, `rotated-secret-${n}`])));
    await service.sql("delete from webhooks");
    await service.sql("delete from outbox");
  });

  it("tells what none of the keys opens, and goes on", async () => {
    await oldSecrets(2);
    const [lost] = await service.sql<{ id: string }>(
      "update webhooks set secret = $1 where id = (select min(id::text)::uuid from webhooks) returning id",
      [
        encrypt(
          "lost",
          parseKeyring({ DATA_ENCRYPTION_KEYS: `gone:${Buffer.alloc(32, 8).toString("base64")}` }),
          "webhook",
        ),
      ],
    );
    expect(await reencrypt(url, BOTH_KEYS)).toMatchObject({ failed: [`webhooks.secret ${lost?.id}`] });
    expect((await names()).filter((name) => name !== "2027")).toEqual(["gone"]);
    await service.sql("delete from webhooks");
    await service.sql("delete from outbox");
  });
});

describe("encrypting anew under a name that another key had", () => {
  const namedAlike = parseKeyring({ DATA_ENCRYPTION_KEYS: `2027:${TEST_ENCRYPTION_KEY}` });

  it.each([
    ["finds what is under that one, where it has another name now", `2027:${NEW},older:${TEST_ENCRYPTION_KEY}`, 1, 0],
    ["tells what is under that one, where it is gone", `2027:${NEW}`, 0, 1],
  ])("%s", async (_, DATA_ENCRYPTION_KEYS, changed, failed) => {
    await reencrypt(url, BOTH_KEYS);
    await service.sql(
      "insert into webhooks (user_id, url, event_types, secret) values ($1, 'http://127.0.0.1:9/', '{run.failed}', $2)",
      [owner.id, encrypt("old", namedAlike, "webhook")],
    );
    const done = await reencrypt(url, parseKeyring({ DATA_ENCRYPTION_KEYS }));
    expect([done.changed, done.failed.length]).toEqual([changed, failed]);
    await service.sql("delete from webhooks");
  });
});

describe("the minting secret", () => {
  const prompts = () => service.sql("select slug, prompt, input from tasks where is_secret order by slug, id");
  const stored = async (): Promise<string> =>
    (await service.sql<{ sealed: string }>("select sealed from service_secrets where name = $1", [MINTING]))[0]
      ?.sealed ?? "";

  it("is random and stored encrypted, and no encryption key gives the secret tasks", async () => {
    const secret = openMinting(await stored(), BOTH_KEYS);
    expect(secret).toHaveLength(32);
    expect(Buffer.from(secret).toString("base64")).not.toBe(TEST_ENCRYPTION_KEY);
    const present = new Set(
      (await service.sql<{ prompt: string }>("select prompt from tasks")).map(({ prompt }) => prompt),
    );
    const shared = (key: Uint8Array) =>
      secretSuites.flatMap((suite) => mintSuite(key, suite, 1)).filter(({ prompt }) => present.has(prompt)).length;
    const all = secretSuites.flatMap(({ templates }) => templates).length;
    expect(shared(secret)).toBe(all);
    // About ten of 34 tasks draw their input alone, and have one prompt under every key.
    expect(shared(Buffer.from(TEST_ENCRYPTION_KEY, "base64"))).toBeLessThan(all / 2);
  });

  it("stays what it is when the keys are rotated: a seeding changes nothing", async () => {
    const before = await prompts();
    await reencrypt(url, BOTH_KEYS);
    expect((await seed(url, NEW_KEYS)).changed).toBe(0);
    expect(await prompts()).toEqual(before);
  });

  /** The database as a release left it whose secret tasks were minted by the encryption key itself. */
  async function asOfOld(): Promise<void> {
    await service.sql("update service_secrets set sealed = $1", [
      sealMinting(Buffer.from(TEST_ENCRYPTION_KEY, "base64"), NEW_KEYS),
    ]);
    await seed(url, NEW_KEYS);
    await service.sql("delete from service_secrets");
  }

  it.each<[string, Keyring]>([
    ["alone", TEST_KEYS],
    ["after a new one", BOTH_KEYS],
    ["under a name among others", parseKeyring({ DATA_ENCRYPTION_KEYS: `n:${NEW},o:${TEST_ENCRYPTION_KEY}` })],
  ])("of a database of old is the key that minted it, %s: no secret task changes", async (_, keys) => {
    await asOfOld();
    const before = await prompts();
    expect((await seed(url, keys)).changed).toBe(0);
    expect(await prompts()).toEqual(before);
    expect(Buffer.from(openMinting(await stored(), keys)).toString("base64")).toBe(TEST_ENCRYPTION_KEY);
  });

  it("of a database of old is taken over by a rotation that comes before the seeding, once for all at once", async () => {
    await asOfOld();
    const admin = await newUser(service, { email: "admin@example.test", verified: true });
    const [suite] = await service.sql<{ id: string }>("select id from suites where slug = 'sealed-work'");
    const rotate = () => admin.call("POST", "/api/v1/tasks/secret-suites/rotate", { suite_id: suite?.id });
    const answers = await Promise.all([rotate(), rotate(), rotate()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(Buffer.from(openMinting(await stored(), BOTH_KEYS)).toString("base64")).toBe(TEST_ENCRYPTION_KEY);
    expect((await seed(url, BOTH_KEYS)).changed).toBe(0);
  });
});
