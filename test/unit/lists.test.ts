import { describe, expect, test } from "vitest";
import { consumers, groups, schema } from "../../migrations/lists.generate.ts";

describe("the list of groups", () => {
  const group = {
    path: "functions/agents/notes.tsx",
    text: 'export const notes = [\n  route({\n    id: "x",\n  }),\n];\n',
  };

  test("has each file that declares endpoints, and no other", () => {
    const helper = { path: "functions/agents/badge.ts", text: "export const COLOURS = [\n];\n" };
    const list = groups([group, helper]);
    expect(list).toContain('  "agents/notes": async () => (await import("./agents/notes.tsx")).notes,\n');
    expect(list).not.toContain("badge");
  });

  test.each([
    ["are not exported", group.text.replace("export ", "")],
    ["are two groups", group.text + group.text],
    ["are not a list", "export const notes = route({\n});\nroute({\n});\n"],
  ])("is not written while the endpoints of a file %s", (_what, text) => {
    expect(() => groups([{ ...group, text }])).toThrow(
      "functions/agents/notes.tsx needs one line: export const NAME = [",
    );
  });
});

describe("the list of consumers", () => {
  const text = "export const anyConsumer = consumer({\n});\n";

  test("has each consumer by the name of its file", () => {
    const list = consumers([
      { path: "queues/score.ts", text },
      { path: "queues/cancel-billing.ts", text },
      { path: "queues/sent.static.ts", text: "export const SENT = {};\n" },
    ]);
    expect(list).toContain('  score: async () => (await import("./score.ts")).anyConsumer,\n');
    expect(list).toContain('  "cancel-billing": async () => (await import("./cancel-billing.ts")).anyConsumer,\n');
    expect(list).not.toContain("sent");
  });

  test("is not written while a consumer is not exported", () => {
    expect(() => consumers([{ path: "queues/score.ts", text: "consumer({\n});\n" }])).toThrow("queues/score.ts");
  });
});

test("the schema's list has every file with tables", () => {
  const files = ["agents", "columns", "index", "notes"].map((name) => ({
    path: `shared/db/schema/${name}.ts`,
    text: "",
  }));
  expect(schema(files).split("\n").slice(1)).toEqual([
    'export * from "./agents.ts";',
    'export * from "./notes.ts";',
    "",
  ]);
});
