import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Architecture,
  architectureChanges,
  architectureHash,
  architectureOf,
  versionOf,
} from "../../../shared/telemetry/architecture.ts";
import { type Edge, readTrace } from "../../../shared/telemetry/trace.ts";
import { inner, model, other, RUN, span, SENT, tool } from "./spans.ts";

const name = fc.constantFrom("a", "b", "c", "d", "e");
const names = fc.uniqueArray(name).map((list) => list.toSorted());
const edges = fc
  .uniqueArray(fc.tuple(name, name), { selector: (edge) => edge.join() })
  .map((list): Edge[] => list.toSorted((a, b) => (a.join() < b.join() ? -1 : 1)));
const architecture: fc.Arbitrary<Architecture> = fc.record({ models: names, tools: names, edges });

/** Traces as trees: the parent of each span is an earlier one or the run itself. */
const trace = fc
  .array(
    fc.record({
      kind: fc.constantFrom("model", "tool", "agent", "other"),
      name,
      model: fc.option(name),
      provider: fc.option(fc.constantFrom("x", "y")),
      parent: fc.nat(),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((rows) => rows.map(({ parent, ...row }, at) => span(at, at === 0 ? null : inner((parent % (at + 1)) - 1), row)));

const shownBy = (spans: readonly ReturnType<typeof span>[]) => architectureOf(readTrace(RUN, spans));
const hashOf = (spans: readonly ReturnType<typeof span>[]) => {
  const shown = shownBy(spans);
  return shown === null ? null : architectureHash(shown);
};

describe("the hash of an architecture", () => {
  test("is SHA-256 over its RFC 8785 form", () => {
    const text = '{"edges":[["agent","openai/m"]],"models":["openai/m"],"tools":["t"]}';
    expect(architectureHash({ models: ["openai/m"], tools: ["t"], edges: [["agent", "openai/m"]] })).toBe(
      createHash("sha256").update(text).digest("hex"),
    );
  });

  test("is the same in another order, with other ids, tokens and costs, and for repeated calls", () => {
    fc.assert(
      fc.property(trace, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), fc.nat(1e6), (spans, order, tokens) => {
        const renamed = (id: string | null) => (id === null || id === SENT ? id : `9${id.slice(1)}`);
        const again = spans.map((one) => ({
          ...one,
          span_id: renamed(one.span_id) ?? "",
          parent_span_id: renamed(one.parent_span_id),
          input_tokens: tokens,
          cost_usd: tokens / 7,
        }));
        const shuffled = [...spans, ...again].toSorted(
          (a, b) => (order[spans.indexOf(a)] ?? 0) - (order[spans.indexOf(b)] ?? 0),
        );
        expect(hashOf(again)).toBe(hashOf(spans));
        expect(hashOf(shuffled)).toBe(hashOf(spans));
      }),
    );
  });

  test("is another with a new model, tool or edge", () => {
    fc.assert(
      fc.property(trace, fc.constantFrom(tool("new"), model("new"), { ...tool("a"), name: "new" }), (spans, added) => {
        expect(hashOf([...spans, span(99, SENT, added)])).not.toBe(hashOf(spans));
      }),
    );
    const flat = [span(0, SENT, tool("a")), span(1, SENT, tool("b"))];
    const nested = [span(0, SENT, tool("a")), span(1, inner(0), tool("b"))];
    expect(hashOf([...flat, span(2, inner(0), tool("b"))])).not.toBe(hashOf(flat));
    expect(hashOf(nested)).not.toBe(hashOf(flat));
  });

  test("differs between architectures, whatever names stand where", () => {
    fc.assert(
      fc.property(architecture, architecture, (a, b) => {
        expect(architectureHash(a) === architectureHash(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });
});

describe("what a run shows", () => {
  test("is sorted, without repetition, with the calls by the nearest named caller", () => {
    const spans = [
      span(0, SENT, { kind: "agent", name: "planner" }),
      span(1, inner(0), other("step")),
      span(2, inner(1), model("m", "openai")),
      span(3, inner(1), tool("search")),
      span(4, inner(3), model("embed")),
      span(5, inner(0), tool("search")),
    ];
    expect(shownBy(spans)).toEqual({
      models: ["embed", "openai/m"],
      tools: ["search"],
      edges: [
        ["agent", "planner"],
        ["planner", "openai/m"],
        ["planner", "search"],
        ["search", "embed"],
      ],
    });
  });

  test.each([
    ["nothing but unnamed spans", [span(0, SENT, other("work")), span(1, inner(0), model(null))]],
    ["no span", []],
    ["a name for each of 257 calls", Array.from({ length: 257 }, (_none, at) => span(at, SENT, tool(`t${at}`)))],
    [
      "names of more than 24,576 characters in all",
      Array.from({ length: 120 }, (_none, at) => span(at, SENT, tool(`${at}`.padStart(115, "t")))),
    ],
  ])("is nothing with %s", (_case, spans) => {
    expect(shownBy(spans)).toBeNull();
  });
});

describe("the version of a run", () => {
  const only = (models: string[], tools: string[]): Architecture => ({ models, tools, edges: [] });

  test.each<[string, Architecture, Architecture[], Architecture]>([
    ["is what it shows, for the first", only(["m"], ["t"]), [], only(["m"], ["t"])],
    ["is the newest that has all it shows", only(["m"], []), [only(["m"], ["t"]), only(["m"], [])], only(["m"], ["t"])],
    ["adds a tool to the newest", only(["m"], ["u"]), [only(["m"], ["t"])], only(["m"], ["t", "u"])],
    ["adds a model beside those used", only(["m", "n"], []), [only(["m"], ["t"])], only(["m", "n"], ["t"])],
    ["starts afresh where a model was replaced", only(["n"], ["u"]), [only(["m"], ["t"])], only(["n"], ["u"])],
    [
      "goes back with a model to the version that had it",
      only(["m"], []),
      [only(["n"], []), only(["m"], ["t"])],
      only(["m"], ["t"]),
    ],
    ["takes tools alone for the newest's", only([], ["u"]), [only(["n"], []), only(["m"], ["t"])], only(["n"], ["u"])],
  ])("%s", (_case, shown, versions, expected) => {
    expect(versionOf(shown, versions)).toEqual(expected);
  });

  test("holds all that the run shows, and is minted once: the same run again belongs to it", () => {
    fc.assert(
      fc.property(architecture, fc.array(architecture, { maxLength: 5 }), (shown, versions) => {
        const version = versionOf(shown, versions);
        expect(architectureChanges(version, shown)).toMatchObject({ models_added: [], tools_added: [] });
        expect(version.edges.map(String)).toEqual(expect.arrayContaining(shown.edges.map(String)));
        expect(versionOf(shown, [version, ...versions])).toEqual(version);
      }),
    );
  });

  test("settles: runs of one agent mint no more versions than it has parts, in any order", () => {
    fc.assert(
      fc.property(architecture, fc.infiniteStream(fc.nat()), (whole, random) => {
        const draw = () => random.next().value as number;
        const minted: Architecture[] = [];
        for (let run = 0; run < 40; run += 1) {
          const some = <T>(list: readonly T[]) => list.filter(() => draw() % 2 === 0);
          const shown = { models: whole.models, tools: some(whole.tools), edges: some(whole.edges) };
          const version = versionOf(shown, minted);
          if (minted.every((known) => architectureHash(known) !== architectureHash(version))) minted.unshift(version);
        }
        expect(minted.length).toBeLessThanOrEqual(1 + whole.tools.length + whole.edges.length);
      }),
    );
  });

  test("never grows past what one run may show", () => {
    const many = only(["m"], Array.from({ length: 256 }, (_none, at) => `t${at}`).toSorted());
    expect(versionOf(only(["m"], ["u"]), [many])).toEqual(only(["m"], ["u"]));
  });
});

test("changes between versions are what came and what went; all came with the first", () => {
  const [before, after] = [
    { models: ["m", "n"], tools: ["t"] },
    { models: ["n", "o"], tools: ["t", "u"] },
  ];
  expect(architectureChanges(before, after)).toEqual({
    models_added: ["o"],
    models_removed: ["m"],
    tools_added: ["u"],
    tools_removed: [],
  });
  expect(architectureChanges(null, before)).toMatchObject({ models_added: ["m", "n"], tools_added: ["t"] });
});
