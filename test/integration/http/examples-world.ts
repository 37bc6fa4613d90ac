import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { certify } from "../payments/certify-support.ts";
import { addListing, newSeller } from "../payments/marketplace-support.ts";
import { told } from "../runs/minted-support.ts";
import { addAgent, addRun, addSuite, KEY } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

/** The hosts of the examples' addresses, and where names lead that this test gives away. */
const HOSTS = ["agents.example.com", "hooks.example.com"];
const SOMEWHERE = "93.184.216.34";

/** What there is when the examples are sent: the things that their ids stand for. */
export interface World {
  service: TestService;
  anonymous: Caller;
  owner: User;
  operator: User;
  seller: User;
  member: User;
  agent: string;
  rival: string;
  suite: string;
  task: string;
  session: string;
  run: string;
  /** A run of a minted task. */
  minted: string;
  team: string;
  listing: string;
  day: string;
  /** The callback token of the last run that the agent at `/later` was sent. */
  token(): string;
}

/** The agents and receivers of the examples, in this process: nothing is sent anywhere. */
function web(): { fetch: typeof fetch; token(): string } {
  let token = "";
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { hostname, pathname } = new URL(request.url);
    if (hostname === "127.0.0.1") return fetch(request);
    if (!HOSTS.includes(hostname)) throw new Error(`nobody should ask ${hostname}`);
    if (pathname === "/.well-known/agent.json")
      return Response.json({ name: "Atlas of the manifest", endpoint: "https://agents.example.com/atlas" });
    if (hostname === "hooks.example.com") return Response.json({});
    if (pathname === "/failing") return Response.json({}, { status: 500 });
    if (pathname !== "/later") return Response.json({ output: KEY, usage: { cost_usd: 0.001 } });
    const sent: { callback?: { token: string } } & object = told(new Uint8Array(await request.arrayBuffer()));
    token = sent.callback?.token ?? "";
    return new Response(null, { status: 202 });
  };
  return { fetch: answer, token: () => token };
}

/** Screens an agent by one task, in a session; returns its runs. */
export async function addBatch(
  owner: Caller,
  agent_id: string,
  task: string,
): Promise<{ id: string; screening_session_id: string }[]> {
  const { status, body, text } = await owner.call("POST", "/api/v1/runs/batch", { agent_id, task_ids: [task] });
  if (status !== 200) throw new Error(text);
  return body;
}

/** Starts a service that knows the examples' hosts, and makes what their ids stand for. */
export async function makeWorld(): Promise<World> {
  const { fetch, token } = web();
  const service = await startService({
    settings: { ADMIN_EMAILS: "operator@example.test", TEAM_OVERRIDE_EMAILS: "lead@example.test" },
    overrides: { fetch },
    stripe: true,
  });
  service.dns.setZone(Object.fromEntries(HOSTS.map((host) => [host, { A: [SOMEWHERE] }])));
  const [owner, member, operator] = await Promise.all([
    newUser(service, { plan: "enterprise", verified: true }),
    newUser(service, { plan: "enterprise", verified: true }),
    newUser(service, { email: "operator@example.test", verified: true }),
  ]);
  const endpoint = "https://agents.example.com/atlas";
  const [agent, rival] = [await addAgent(owner, { endpoint }), await addAgent(owner, { endpoint })];
  const suite = await addSuite(service, 1);
  const task = suite.tasks[0] ?? "";
  const [core] = await service.sql<{ id: string }>(
    "select id from tasks where is_active and slug ~ '^core-math-' limit 1",
  );
  const [first] = await addBatch(owner, agent, task);
  const [run, session] = [first?.id ?? "", first?.screening_session_id ?? ""];
  await addRun(owner, rival, task);
  const minted = await addRun(owner, agent, core?.id ?? "");
  await service.settled();
  await service.app.scheduled(DAILY);
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
  await certify(service, agent, session);
  const [{ day } = { day: "" }] = await service.sql<{ day: string }>(
    "select day::text from board_days order by day desc limit 1",
  );
  const seller = await newSeller(service);
  const { id: listing } = await addListing(seller);
  const team = await addTeam(service, owner, { editor: member });
  const anonymous = caller(service);
  const made = { agent, rival, suite: suite.id, task, session, run, minted, team, listing, day };
  return { service, anonymous, owner, member, operator, seller, token, ...made };
}
