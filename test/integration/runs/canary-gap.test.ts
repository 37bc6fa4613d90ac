import canonicalize from "canonicalize";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { core } from "../../../shared/suites/public/core/index.ts";
import { type Handler, json } from "../../stack/http.ts";
import { Minting } from "./canary-support.ts";
import { honest, told } from "./minted-support.ts";
import { addAgent, range, startAgent } from "./support.ts";

const HOUR = 3_600_000;

const published = new Map(
  core.tasks.map(({ prompt, input, expected_output }) => [canonicalize([prompt, input ?? null]), expected_output]),
);

/** Has the answers of the published samples by heart, and no idea else. */
const byHeart: Handler = ({ body }) => {
  const { prompt, input = null } = told(body).task;
  return json(200, { output: published.get(canonicalize([prompt, input])) ?? null });
};

let minting: Minting;

beforeAll(async () => {
  minting = await Minting.start(honest);
});

afterAll(() => minting.stop());

/** Screens an agent in so many sessions of four canaries each. */
async function screen(agentId: string, sessions: number): Promise<void> {
  for (const _session of range(sessions)) await minting.reserve(agentId, 10);
  await minting.released();
}

/** As if the agent had been asked the canaries that it was asked so many times more. */
async function repeated(agentId: string, times: number): Promise<void> {
  await minting.service.sql(
    `insert into runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'screening_session_id', null))).*
     from runs r, generate_series(1, $2) where r.agent_id = $1 and r.canary`,
    [agentId, times],
  );
}

async function shown(agentId: string) {
  const { items } = await minting.read("/api/v1/leaderboard?page_size=100", minting.anonymous);
  const row = items.find((one: { agent_id: string }) => one.agent_id === agentId);
  const agent = await minting.read(`/api/v1/agents/${agentId}`, minting.anonymous);
  const fields = "memorised memorisationGap { value low high canaryRuns }";
  const query = `{ agent(id: "${agentId}") { ${fields} } leaderboard(pageSize: 100) { items { agentId ${fields} } } }`;
  const { data } = (await minting.anonymous.call("POST", "/graphql", { query })).body;
  const page = (await minting.anonymous.call("GET", `/agents/${agentId}`)).text;
  const board = (await minting.anonymous.call("GET", "/")).text;
  const { memorisation_gap: gap, memorised } = agent;
  expect(row).toMatchObject({ memorisation_gap: gap, memorised });
  const { canary_runs: canaryRuns, ...rest } = gap ?? {};
  const inGraph = { memorised, memorisationGap: gap === null ? null : { ...rest, canaryRuns } };
  expect(data.agent).toEqual(inGraph);
  expect(data.leaderboard.items).toContainEqual({ agentId, ...inGraph });
  const tags = [page, board.slice(board.indexOf(agentId)).split("</tr>")[0] ?? ""].map((text) =>
    text.includes('">memorised</span>'),
  );
  return { gap, memorised, marks: tags };
}

describe("an agent that was asked canaries", () => {
  it("is marked where it answers from the published samples, once there are 20; an honest one is not, and the night finds the same", async () => {
    const forger = await startAgent(byHeart);
    const memoriser = await addAgent(minting.owner, { endpoint: forger.url });
    const sincere = await minting.addLive();
    await screen(memoriser, 1);
    await repeated(memoriser, 2);
    await screen(memoriser, 1);
    expect(await shown(memoriser)).toEqual({ gap: null, memorised: false, marks: [false, false] });
    await screen(memoriser, 1);
    const marked = await shown(memoriser);
    expect(marked).toMatchObject({ gap: { value: 1, canary_runs: 20 }, memorised: true, marks: [true, true] });
    expect(marked.gap.low).toBeGreaterThan(0.1);
    await screen(sincere, 1);
    await repeated(sincere, 3);
    await screen(sincere, 1);
    const unmarked = await shown(sincere);
    expect(unmarked).toMatchObject({ gap: { value: 0, canary_runs: 20 }, memorised: false, marks: [false, false] });
    expect(unmarked.gap.low).toBeLessThan(0);
    expect(unmarked.gap.high).toBeGreaterThan(0);

    const rows = () => minting.service.sql("select * from memorisation_gaps order by agent_id");
    const before = await rows();
    expect(before).toHaveLength(2);
    await minting.service.sql("update memorisation_gaps set gap = 0, canary_runs = 0 where agent_id = $1", [memoriser]);
    minting.at(4 * HOUR);
    await minting.service.app.scheduled(DAILY);
    await minting.service.settled();
    expect(await rows()).toEqual(before);
    await forger.stop();
  }, 120_000);

  it("has been asked them as soon as their session ends, also where all else of it is cancelled", async () => {
    minting.at(0);
    const agentId = await minting.addLive();
    const row = async () => {
      const { items } = await minting.read("/api/v1/leaderboard?page_size=100&domain=math", minting.anonymous);
      return items.find((one: { agent_id: string }) => one.agent_id === agentId);
    };
    await minting.reserve(agentId, 2);
    await minting.released();
    expect(await row()).toMatchObject({ asked_runs: 8, uneven: false });
    minting.at(1);
    const runs = await minting.reserve(agentId, 5);
    const { canaries, others } = await minting.parted(runs);
    for (const { id } of others) await minting.owner.call("POST", `/api/v1/runs/${id}/cancel`);
    await minting.released();
    expect(canaries).toHaveLength(2);
    expect(await row()).toMatchObject({ asked_runs: 10, uneven: true });
  });
});
