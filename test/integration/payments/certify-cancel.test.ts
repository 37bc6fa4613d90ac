import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { grantUnpublished, runsOf, shortenSuites } from "./certify-support.ts";
import { addAgent, quietQueueClient, startAgent } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

const RUNS = 10;

let service: TestService;
let endpoint: Consumer;
let owner: User;
let members: Record<"admin" | "editor" | "runner", User>;
let team: string;

beforeAll(async () => {
  quietQueueClient();
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  await shortenSuites(service);
  owner = await newUser(service, { plan: "team" });
  const [admin, editor, runner] = [await newUser(service), await newUser(service), await newUser(service)];
  members = { admin, editor, runner };
  team = await addTeam(service, owner, members);
});

afterAll(() => Promise.all([service.stop(), endpoint.stop()]));

/** A certification of an agent of the workspace, bought by `buyer`, whose runs all wait. */
async function bought(buyer: User) {
  const agent = await addAgent(owner, { team_id: team, endpoint: endpoint.url });
  await grantUnpublished(service, buyer, agent);
  const runs = await service.sql<{ id: string; session: string }>(
    "select id, screening_session_id as session from runs where agent_id = $1",
    [agent],
  );
  const [run, session] = [`/api/v1/runs/${runs[0]?.id}`, `/api/v1/screening-sessions/${runs[0]?.session}`];
  const cancel = async (who: User) => {
    const answers = [await who.call("POST", `${run}/cancel`), await who.call("POST", `${session}/cancel`)];
    return answers.map(({ status, body }) => body.code ?? status);
  };
  return { agent, cancel };
}

describe("the runs of a certification", () => {
  it("are cancelled by those who may buy it, and by nobody else in the workspace", async () => {
    const { agent, cancel } = await bought(owner);
    expect([await cancel(members.runner), await cancel(members.editor)]).toEqual([
      ["forbidden", "forbidden"],
      ["forbidden", "forbidden"],
    ]);
    expect(await runsOf(service, agent)).toEqual({ queued: RUNS });
    expect(await cancel(members.admin)).toEqual([200, 200]);
    expect(await runsOf(service, agent)).toEqual({ cancelled: RUNS });
  });

  it("are not cancelled by whoever bought it and may no longer do so", async () => {
    const { agent, cancel } = await bought(members.admin);
    const become = (role: string) =>
      service.sql("update team_members set role = $3 where team_id = $1 and user_id = $2", [
        team,
        members.admin.id,
        role,
      ]);
    await become("runner");
    expect(await cancel(members.admin)).toEqual(["forbidden", "forbidden"]);
    expect(await runsOf(service, agent)).toEqual({ queued: RUNS });
    await become("admin");
  });
});
