import { afterAll, beforeAll, expect, it } from "vitest";
import { Minting } from "../runs/canary-support.ts";
import { addRun, range } from "../runs/support.ts";

let minting: Minting;

beforeAll(async () => {
  minting = await Minting.start();
});

afterAll(() => minting.stop());

/** How many runs of the agent are scored on the board of the domain, how many it was asked, and whether unevenly. */
async function shown(agent_id: string) {
  const { items } = await minting.read("/api/v1/leaderboard?domain=math&page_size=100", minting.anonymous);
  const row = items.find((item: { agent_id: string }) => item.agent_id === agent_id);
  return [row.runs, row.asked_runs, row.uneven];
}

it("counts a run as asked that was overtaken by one that was asked for in the same millisecond", async () => {
  const agent = await minting.addLive();
  const [first = ""] = minting.tasks;
  const batch = await minting.reserve(agent, 2, { task_ids: [first] });
  const single = async () => addRun(minting.owner, agent, first);
  const ids = [...batch.map(({ id }) => id), ...(await Promise.all(range(3).map(single)))].toSorted();
  const last = ids.at(-1) ?? "";
  await minting.carryOut([await minting.read(`/api/v1/runs/${last}`)]);
  // Of one batch none overtakes another, and this clock stands still: so all the others were asked for at once with it.
  const others = ids.filter(
    (id) => id !== last && !batch.some((run) => run.id === id && batch.some((own) => own.id === last)),
  );
  for (const id of others) await minting.owner.call("POST", `/api/v1/runs/${id}/cancel`);
  const ended = await Promise.all(others.map((id) => minting.read(`/api/v1/runs/${id}`)));
  expect(ended.map(({ status, suite_version }) => `${status} ${suite_version}`)).toEqual(
    others.map(() => "cancelled 1"),
  );
});

it("marks an agent whose picked runs are made up for by a session that is kept open", async () => {
  const agent = await minting.addLive();
  const [first = "", ...others] = minting.tasks;
  await minting.carryOut(await minting.reserve(agent, 1));
  const pick = async () =>
    minting.carryOut([await minting.read(`/api/v1/runs/${await addRun(minting.owner, agent, first)}`)]);
  for (const _time of range(4)) await pick();
  expect(await shown(agent)).toEqual([8, 8, true]);
  const session = await minting.reserve(agent, 5, { task_ids: others });
  const last = session.slice(-1);
  await minting.carryOut(session.slice(0, -1));
  await pick();
  // Each task was asked six times, but for the last run; what was asked in the session is not scored yet.
  expect(await shown(agent)).toEqual([9, 23, true]);
  await minting.carryOut(last);
  expect(await minting.settle(session)).toBe(200);
  const canaries = (await minting.readAll(session)).filter(({ canary }) => canary).length;
  expect(await shown(agent)).toEqual([24 - canaries, 24, false]);
});
