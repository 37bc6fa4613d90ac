import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../stack/client.ts";
import { type Listening, json, listen } from "../stack/http.ts";
import { startService, type TestService } from "../stack/service.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let agent: Listening;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service);
  anonymous = caller(service);
  agent = await listen(() =>
    json(200, { output: "42", usage: { calls: [{ model: "gpt-4o-mini", input_tokens: 1000, output_tokens: 100 }] } }),
  );
});

afterAll(async () => {
  await agent.close();
  await service.stop();
});

describe("a screening of a real agent", () => {
  it("goes from the batch to graded runs, signed evidence, a score and a place on the board", async () => {
    const created = await owner.call("POST", "/api/v1/agents", { name: "Answers 42", endpoint: `${agent.url}/run` });
    expect(created.status).toBe(201);
    const suites = await anonymous.call("GET", "/api/v1/suites");
    const core = suites.body.items.find((suite: { slug: string }) => suite.slug === "core");
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: created.body.id, suite_id: core.id });
    expect(batch.status, batch.text).toBe(200);
    expect(batch.body).toHaveLength(40);
    await service.settled();
    expect(service.logs.filter((line) => line.includes('"error"')).slice(0, 3)).toEqual([]);
    const session = await anonymous.call("GET", `/api/v1/screening-sessions/${batch.body[0].screening_session_id}`);
    expect(session.body.status).toBe("completed");
    expect(session.body.counts.completed).toBe(40);
    const board = await anonymous.call("GET", "/api/v1/leaderboard");
    expect(board.body.items).toMatchObject([
      { rank: 1, agent_id: created.body.id, score_basis: "core", tasks: 40, runs: 40 },
    ]);
  });
});
