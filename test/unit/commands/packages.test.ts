import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PAYMENT_RESOURCES } from "../../../shared/billing/stripe.ts";
import { REDIS_COMMANDS } from "../../../shared/platform/redis.ts";
import { isAsked, withCommands } from "../../commands/bundling/packages.ts";

const SOURCE = `var Redis = class {
  client;
  constructor(client) { this.client = client; }
  get = (...args) => new GetCommand(args).exec(this.client);
  set = (...args) => new SetCommand(args).exec(this.client);
  get json() { return { get: () => new JsonGetCommand().exec(this.client) }; }
  pipeline = () => new Pipeline(this);
};
var Other = class { set = () => new SetCommand(); };`;

test("of the client of Redis only the commands that are sent are kept, and all that sends none", () => {
  const kept = withCommands(SOURCE, ["get"]);
  expect(kept).toBe(SOURCE.replace(/set = \(\.\.\..*/, "").replace(/get json.*/, ""));
});

test("a command that the client does not have is no command", () => {
  expect(() => withCommands(SOURCE, ["get", "put"])).toThrow("no put");
});

test("the client that is installed has every command that is sent, and many that are not", () => {
  const path = new URL(import.meta.resolve("@upstash/redis/cloudflare"));
  const [, chunk = ""] = /from "(\.\/chunk-\w+\.mjs)"/.exec(readFileSync(path, "utf8")) ?? [];
  const source = readFileSync(new URL(chunk, path), "utf8");
  expect(source.length - withCommands(source, REDIS_COMMANDS).length).toBeGreaterThan(20_000);
});

test("of the payment provider's SDK each resource that is asked for is kept, and few others", () => {
  const folder = fileURLToPath(new URL("../../../node_modules/stripe/esm/resources/", import.meta.url));
  const all = globSync("**/*.js", { cwd: folder }).map((name) => `/stripe/esm/resources/${name}`);
  const kept = all.filter(isAsked);
  expect(new Set(kept.map((path) => path.split(/[/.]/)[4]?.toLowerCase()))).toEqual(
    new Set(PAYMENT_RESOURCES.map((name) => name.toLowerCase())),
  );
  expect(kept.length).toBeLessThan(all.length / 10);
});
