import { getIntrospectionQuery } from "graphql";
import { describe, expect, it } from "vitest";
import { answer } from "../../functions/graphql/answer.ts";
import type { Caller } from "../../functions/graphql/builder.ts";

/** A caller whose database takes statements and gives back how many came together. */
function counting(): { caller: Caller; batches: number[] } {
  const batches: number[] = [];
  const rows = { rows: [{ result: { items: [], total: 0, visible: true } }] };
  const db = {
    execute: () => ({
      then: (resolve: (value: unknown) => void) => {
        batches.push(1);
        resolve(rows);
      },
    }),
    batch: (statements: unknown[]) => {
      batches.push(statements.length);
      return Promise.resolve(statements.map(() => rows));
    },
  };
  return { caller: { ctx: { db, question: null }, principal: { kind: "anonymous" } } as unknown as Caller, batches };
}

describe("GraphQL in the runtime of production", () => {
  it("puts its schema together, validates and tells its types", async () => {
    const { caller, batches } = counting();
    const { data, errors } = await answer(caller, { query: getIntrospectionQuery() });
    expect(errors).toBeUndefined();
    expect(Object.keys(data ?? {})).toEqual(["__schema"]);
    expect(batches).toEqual([]);
  });

  it("sends the reads of one document together", async () => {
    const { caller, batches } = counting();
    const query = "{ agents { total } tasks { total } leaderboard { total } }";
    expect(await answer(caller, { query })).toEqual({
      data: { agents: { total: 0 }, tasks: { total: 0 }, leaderboard: { total: 0 } },
    });
    expect(batches).toEqual([3]);
  });

  it("refuses what is over its bounds", async () => {
    const { caller, batches } = counting();
    const { data, errors } = await answer(caller, { query: "{ agents(pageSize: 100000) { items { id } } }" });
    expect([data, errors?.[0]?.extensions.code]).toEqual([undefined, "validation_failed"]);
    expect(batches).toEqual([]);
  });
});
