import { describe, expect, test } from "vitest";
import { AgentCreate } from "../../../shared/agents/schemas.ts";
import { ApiKeyCreate } from "../../../shared/identity/api-keys/schemas.ts";
import { DeviceRequest } from "../../../shared/identity/device/schemas.ts";
import { ListingCreate } from "../../../shared/marketplace/schemas.ts";
import { line } from "../../../shared/platform/line.ts";
import { TeamCreate } from "../../../shared/teams/schemas.ts";

describe("a name of one line", () => {
  test.each([
    "Ada",
    " Ada Lovelace ",
    "γλώσσα",
    "می‌خواهم",
    "👩‍👩‍👧 🏴‍☠️ 1️⃣",
    "e\u0301",
    "·",
    "עברית",
    "日本",
    "a\u00a0b",
    "ᄒ\u1160ᆫ 글",
    "⠁\u2800⠃",
    "葛\u{e0100}",
    "x".repeat(120),
  ])("is taken: %s", (name) => {
    expect(line(120).parse(name)).toBe(name.trim());
  });

  test.each([
    ["nothing", ""],
    ["spaces alone", " \u00a0 "],
    ["joiners alone", "\u200d\u200c"],
    ["marks alone", "\u0301"],
    ["a filler alone", "\u3164"],
    ["other fillers, with spaces and joiners", "\u115f \u1160\u200d\uffa0"],
    ["Braille cells without dots alone", "\u2800\u2800"],
    ["two lines", "a\nb"],
    ["a line separator", "a\u2028b"],
    ["a control character", "a\u0007b"],
    ["an escape sequence", "\u001b[31mred"],
    ["a space without width", "Acme\u200b"],
    ["a word joiner", "Ac\u2060me"],
    ["a soft hyphen", "Ac\u00adme"],
    ["a byte order mark inside", "Ac\ufeffme"],
    ["a turn of the text", "Ac\u202eme"],
    ["an isolate", "Ac\u2066me"],
    ["a mark of direction", "Ac\u200fme"],
    ["121 characters", "x".repeat(121)],
  ])("is refused with %s", (_what, name) => {
    expect(line(120).safeParse(name).success).toBe(false);
  });
});

test.each([
  ["an agent", AgentCreate.shape.name],
  ["a key", ApiKeyCreate.shape.name],
  ["a workspace", TeamCreate.shape.name],
  ["a listing", ListingCreate.shape.title],
  ["a device that asks for a key", DeviceRequest.shape.client_name],
])("the name of %s is one", (_what, name) => {
  expect([name.safeParse("Ada").success, name.safeParse("Ad\u202ea").success]).toEqual([true, false]);
});
