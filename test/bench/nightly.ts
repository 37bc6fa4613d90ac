import { isDeepStrictEqual } from "node:util";
import type { Pool } from "pg";
import { PARTS, recompute } from "../../shared/board/recompute.ts";
import type { Context } from "../../shared/platform/context.ts";
import { type Figure, measured, time } from "./measure.ts";

/** Pieces that are looked at of each part of the nightly pass: so many of the million's that it takes seconds. */
const PIECES = 2;
const ROUNDS = 3;

/**
 * How many runs the nightly pass looks at a second, its parts side by side as the queue has them done, where it finds all as
 * it was, as it should. Pieces that are not timed put the cells of their agents right; with all of their cells, fewer agents
 * make a piece, so that the timed ones are among them.
 */
export async function nightlyFigures({ log, ...beside }: Context, pool: Pool): Promise<Figure[]> {
  const ctx = { ...beside, log: { ...log, info: () => undefined } };
  let last = await pieces(ctx);
  for (let before: string[] = []; !isDeepStrictEqual(before, last); ) [before, last] = [last, await pieces(ctx)];
  const { rows } = await pool.query<{ agents: number; cells: number; runs: number }>(READ, [last]);
  const { agents = 0, cells = 0, runs = 0 } = rows[0] ?? {};
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const took = await time(async () => {
      if (!isDeepStrictEqual(await pieces(ctx), last)) throw new Error("the nightly pass took other agents");
    });
    rates.push((runs / took) * 1000);
  }
  return [
    {
      name: `runs that the nightly pass looks at a second (${agents} agents, ${cells} cells)`,
      ...measured(rates),
      unit: "rows/s",
      kind: "least",
      budget: 50_000,
    },
  ];
}

/** Carries the first pieces of each part out; resolves to the last agent of each. */
function pieces(ctx: Context): Promise<string[]> {
  return Promise.all(
    Array.from({ length: PARTS }, async (_, part) => {
      let last: string | null = null;
      for (let piece = 0; piece < PIECES; piece += 1) {
        const { next } = await recompute(ctx, part, last);
        if (next === null) throw new Error("there is less than the pass is measured by");
        last = next;
      }
      return last ?? "";
    }),
  );
}

/**
 * SQL: how many agents, cells and runs the pass reads up to the last agent of each part: of each task the latest ten, real
 * and simulated.
 */
const READ = `with read as (select id from (select distinct agent_id as id from task_scores) a
    where id <= ($1::uuid[])[1 + get_byte(uuid_send(id), 15) % ${PARTS}])
  select (select count(*) from read)::integer as agents,
    (select count(*) from task_scores where agent_id in (select id from read))::integer as cells,
    (select sum(least(n, 10)) from (select count(*) as n from runs r join tasks t on t.id = r.task_id
      where r.agent_id in (select id from read) and not r.is_private and r.counted and r.suite_version = t.suite_version
      group by r.agent_id, r.task_id, r.simulated) x)::integer as runs`;
