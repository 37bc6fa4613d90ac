import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createService } from "../../../functions/service.ts";
import { createDatabase } from "../../../shared/db/client.ts";
import { json, listen, type Listening } from "../../stack/http.ts";
import { DEVELOPMENT, newSecrets } from "../../stack/settings.ts";

const URL_OF_NOTHING = "postgres://nobody@127.0.0.1/nothing";
const ANSWER = { fields: [], rows: [], command: "SELECT", rowCount: 0 };

let proxy: Listening;

beforeAll(async () => {
  proxy = await listen(() => json(200, ANSWER));
});

afterAll(() => proxy.close());

it("reads an answer once it is its turn, where it is read in steps", async () => {
  let turn = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    turn = resolve;
  });
  let goOn = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const steps = { next: async () => (turn(), gone) };
  const read: string[] = [];
  const inSteps = createDatabase(URL_OF_NOTHING, proxy.url, steps)
    .execute(sql`select 1`)
    .then(() => read.push("in steps"));
  await asked;
  await createDatabase(URL_OF_NOTHING, proxy.url).execute(sql`select 1`);
  read.push("at once");
  goOn();
  await inSteps;
  expect(read).toEqual(["at once", "in steps"]);
});

it("reads in steps what nobody waits for, and nothing else", async () => {
  const urls = ["BASE_URL", "FRONTEND_URL", "UPSTASH_REDIS_REST_URL", "QSTASH_URL", "DNS_RESOLVER_URL"];
  const nowhere = Object.fromEntries(urls.map((name) => [name, "http://127.0.0.1:9"]));
  const settings = { ...DEVELOPMENT, ...(await newSecrets()), ...nowhere, DATABASE_URL: URL_OF_NOTHING };
  const service = createService(settings, new Map());
  const dbOf = (isBackground: boolean) =>
    service.context({ requestId: "1", addressHash: null, defer: () => undefined, isBackground }).db;
  expect(dbOf(true)).toBe(dbOf(true));
  expect(dbOf(false)).toBe(dbOf(false));
  expect(dbOf(true)).not.toBe(dbOf(false));
});
