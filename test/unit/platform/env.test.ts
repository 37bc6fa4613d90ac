import { expect, test } from "vitest";
import { parseEnv } from "../../../shared/platform/env.ts";
import { DEVELOPMENT, newSecrets, type Settings } from "../../stack/settings.ts";

const usable: Settings = {
  ...DEVELOPMENT,
  ...(await newSecrets()),
  BASE_URL: "https://service.example",
  FRONTEND_URL: "https://service.example",
  DATABASE_URL: "postgres://user:password@database.example/screening",
  UPSTASH_REDIS_REST_URL: "https://redis.example",
  QSTASH_URL: "https://queue.example",
  DNS_RESOLVER_URL: "https://dns.example/dns-query",
};

/** What is said of these settings in place of usable ones: a line for each that is wrong. */
function complaints(settings: Settings): string[] {
  try {
    parseEnv({ ...usable, ...settings });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
}

test.each(["development", "test", "production"])("usable settings are taken in %s", (ENVIRONMENT) => {
  expect(complaints({ ENVIRONMENT })).toEqual([]);
});

const [key] = (JSON.parse(usable["SIGNING_KEYS"] ?? "") as { keys: [{ x: string; d: string }] }).keys;
const { d: _d, ...retired } = key;
const mixed = JSON.stringify({ ...key, d: (JSON.parse(usable["LOG_SIGNING_KEY"] ?? "") as { d: string }).d });

test.each([
  ["text that is not JSON", "SIGNING_KEYS", "keys", "is not JSON"],
  ["a key in place of a set", "SIGNING_KEYS", JSON.stringify(key), "has no array `keys`"],
  ["a retired key first", "SIGNING_KEYS", JSON.stringify({ keys: [retired] }), "key 0 must sign and has no d"],
  ["a key twice", "SIGNING_KEYS", JSON.stringify({ keys: [key, key] }), "key 1 stands in the set twice"],
  ["halves of two keys", "SIGNING_KEYS", `{"keys":[${mixed}]}`, "key 0: d is not the private half of x"],
  ["halves of two keys", "LOG_SIGNING_KEY", mixed, "must be a private JWK of Ed25519"],
  [
    "a key that signs statements",
    "LOG_SIGNING_KEY",
    JSON.stringify(key),
    "stands in SIGNING_KEYS too; the log needs a key of its own",
  ],
  ["half a key", "LOG_SIGNING_KEY", JSON.stringify({ d: key.d }), "must be a private JWK of Ed25519"],
])("%s is refused at the start, and not quoted", (_what, name, value, reason) => {
  expect(complaints({ [name]: value })).toEqual([`- ${name}: ${reason} (npm run keys)`]);
});

test("what production refuses is listed with all else that is wrong", () => {
  const wrong = { BASE_URL: "http://service.example", EPOCH_SECONDS: "60", STRIPE_API_BASE: "https://stripe.example" };
  const lines = complaints({ ...wrong, ENVIRONMENT: "production", QSTASH_TOKEN: "", SIGNING_KEYS: "keys" });
  expect(lines.map((line) => line.replace(/^- (\w+):.*/, "$1")).toSorted()).toEqual(
    [...Object.keys(wrong), "QSTASH_TOKEN", "SIGNING_KEYS"].toSorted(),
  );
});

test.each(["http://dns.example", " http://dns.example", "\thttp://dns.example"])(
  "production refuses %j, as the settings are read without the space around them",
  (DNS_RESOLVER_URL) => {
    const refused = ["- DNS_RESOLVER_URL: must be https in production"];
    expect(complaints({ ENVIRONMENT: "production", DNS_RESOLVER_URL })).toEqual(refused);
    for (const name of ["BASE_URL", "FRONTEND_URL"])
      expect(complaints({ ENVIRONMENT: "production", [name]: DNS_RESOLVER_URL })).toHaveLength(1);
  },
);

test.each([
  "no-reply@example.test",
  "Agent Screening <no-reply@example.test>",
  '"Agents, Inc." <a@b.test>',
  " a@b.test\n",
])("mails may come from %j", (EMAIL_FROM) => expect(complaints({ EMAIL_FROM })).toEqual([]));

test.each([
  "Agent Screening",
  "Agent Screening no-reply@example.test",
  "Agent Screening <no-reply>",
  "<a@b.test",
  "a@b.test>",
])("mails may not come from %j, which the mail service would refuse of each", (EMAIL_FROM) => {
  const refused = ["- EMAIL_FROM: must be an address, or a name and the address in angle brackets"];
  expect(complaints({ EMAIL_FROM })).toEqual(refused);
});
