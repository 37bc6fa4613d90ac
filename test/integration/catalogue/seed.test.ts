import { inject } from "vitest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../migrations/seed.ts";
import { parseKeyring } from "../../../shared/platform/encryption.ts";
import { VERSIONS } from "../../../shared/suites/versions.static.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { TEST_KEYS } from "../../stack/vitest-setup.ts";
import { insertRun } from "../agents/telemetry-support.ts";
import { addAgent } from "../runs/support.ts";

let service: TestService;
let admin: User;
let url: string;

beforeAll(async () => {
  service = await startService();
  admin = await newUser(service, { email: "admin@example.test", verified: true });
  const database = new URL(service.settings["DATABASE_URL"] ?? "").pathname;
  url = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}${database}`;
});

afterAll(() => service.stop());

const versionOf = (slug: string) => VERSIONS[slug.replace("-v%-", "-")]?.version;
const everything = () => service.sql("select * from tasks order by id");

describe("seeding the catalogue", () => {
  it("again changes nothing", async () => {
    const before = await everything();
    const again = await seed(url, TEST_KEYS);
    expect(again).toMatchObject({ suites: 8, tasks: before.length, changed: 0 });
    expect(await everything()).toEqual(before);
  });

  it("with other keys than the service has changes nothing, and says which are missing", async () => {
    const before = await everything();
    const keys = parseKeyring({ DATA_ENCRYPTION_KEYS: `2026-11-28:${Buffer.alloc(32, 9).toString("base64")}` });
    await expect(seed(url, keys)).rejects.toThrow(
      /^None of DATA_ENCRYPTION_KEYS opens .* give the keys that the service has/,
    );
    expect(await everything()).toEqual(before);
  });

  it("side by side changes nothing either", async () => {
    const before = await everything();
    await Promise.all([seed(url, TEST_KEYS), seed(url, TEST_KEYS), seed(url, TEST_KEYS)]);
    expect(await everything()).toEqual(before);
  });

  it("puts a task that differs in its place anew, under a new version of its suite, and retires the old one", async () => {
    const [old] = await service.sql<{ id: string; slug: string; suite_id: string; position: number }>(
      "update tasks set prompt = 'another text' where slug = (select min(slug) from tasks where not is_secret) returning *",
    );
    expect(await seed(url, TEST_KEYS)).toMatchObject({ changed: 1 });
    const rows = await service.sql<{ id: string; is_active: boolean; suite_version: number; position: number }>(
      "select id, is_active, suite_version, position from tasks where slug = $1 order by is_active",
      [old?.slug],
    );
    expect(rows).toMatchObject([
      { id: old?.id, is_active: false, suite_version: 1 },
      { is_active: true, suite_version: 2, position: old?.position },
    ]);
    const versions = await service.sql<{ suite_version: number }>(
      "select distinct suite_version from tasks where suite_id = $1 and is_active",
      [old?.suite_id],
    );
    expect(versions).toEqual([{ suite_version: 2 }]);
  });

  it.each(["core-math-slab-rows", "sealed-reasoning-v%-price-chain"])(
    "puts a task that was run with another version of its template anew, too, under a new version of its suite: %s",
    async (slug) => {
      const active = () =>
        service.sql<{ id: string; suite_id: string; suite_version: number; prompt: string }>(
          "select * from tasks where slug like $1 and is_active",
          [slug],
        );
      const [old] = await active();
      const agent = await addAgent(admin);
      await insertRun(service, agent, old?.id ?? "", { template_version: versionOf(slug) });
      expect(await seed(url, TEST_KEYS)).toMatchObject({ changed: 0 });
      await service.sql("update runs set template_version = template_version - 1 where task_id = $1", [old?.id]);
      expect((await seed(url, TEST_KEYS)).changed).toBeGreaterThan(0);
      const [anew] = await active();
      expect(anew?.id).not.toBe(old?.id);
      const others = await service.sql("select distinct suite_version from tasks where suite_id = $1 and is_active", [
        old?.suite_id,
      ]);
      expect([anew?.suite_version, others]).toEqual([
        (old?.suite_version ?? 0) + 1,
        [{ suite_version: anew?.suite_version }],
      ]);
      expect(await seed(url, TEST_KEYS)).toMatchObject({ changed: 0 });
    },
  );

  it.each([
    ["public", "core"],
    ["secret", "sealed-work"],
  ])(
    "leaves out a %s task that an operator retired, also beyond a rotation, until it ships changed",
    async (_kind, slug) => {
      const present = await service.sql<{ id: string; suite_id: string }>(
        "select t.* from tasks t join suites s on s.id = t.suite_id where s.slug = $1 and t.is_active",
        [slug],
      );
      const [task] = present;
      expect((await admin.call("POST", `/api/v1/tasks/${task?.id}/retire`)).status).toBe(200);
      for (const _time of ["now", "after a rotation"]) {
        const before = [await everything(), await service.sql("select * from suites order by id")];
        expect(await seed(url, TEST_KEYS)).toMatchObject({ changed: 0 });
        expect([await everything(), await service.sql("select * from suites order by id")]).toEqual(before);
        const rotated = await admin.call("POST", "/api/v1/tasks/secret-suites/rotate", { suite_id: task?.suite_id });
        expect(rotated.status).toBe(200);
      }
      await service.sql("update tasks set prompt = 'what shipped before' where id = $1", [task?.id]);
      expect((await seed(url, TEST_KEYS)).changed).toBeGreaterThan(0);
      const shipped = await service.sql("select from tasks where suite_id = $1 and is_active", [task?.suite_id]);
      expect(shipped).toHaveLength(present.length);
    },
  );
});
