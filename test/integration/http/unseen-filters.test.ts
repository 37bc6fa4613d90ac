import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { ROUTES } from "../../../functions/routes.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite } from "../runs/support.ts";

const NOTHINGS = "019ab000-0000-7000-8000-000000000000";

let service: TestService;
let owner: User;
/** What the owner has, by the parameter of a path or query that names it. */
let known: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  const suite = await addSuite(service, 1);
  const agent_id = await addAgent(owner);
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id });
  await service.settled();
  const other = await addAgent(owner);
  known = { agent_id, session_id: batch.body[0].screening_session_id, a: agent_id, b: other };
});

afterAll(() => service.stop());

const Properties = z.object({ properties: z.record(z.string(), z.object({ format: z.string().optional() })) });

/** Each parameter of a query that names a thing by its id. */
const FILTERS = ROUTES.filter(({ method, query }) => method === "get" && query !== undefined).flatMap(
  ({ path, query }) => {
    const schema = z.toJSONSchema(query as z.ZodObject, { io: "input", unrepresentable: "any" });
    const named = Object.entries(Properties.parse(schema).properties).filter(
      ([name, { format }]) => format === "uuid" || /_ids?$/.test(name),
    );
    return named.map(([name]) => [path, name] as const);
  },
);

/** What has to be sent with a parameter. */
const BESIDE: Record<string, string> = { "/api/v1/runs/preflight agent_id": "width=0.1" };

it("there are filters by agent, task, suite, session and workspace", () => {
  const names = new Set(FILTERS.map(([, name]) => name));
  for (const name of ["agent_id", "task_id", "suite_id", "screening_session_id", "team_id"])
    expect([...names]).toContain(name);
});

it.each(FILTERS)("%s is 404 where %s names nothing", async (path, name) => {
  const asked = path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => known[parameter] ?? parameter);
  const others = ["a", "b"].includes(name)
    ? `${name === "a" ? "b" : "a"}=${known["b"]}`
    : (BESIDE[`${path} ${name}`] ?? "");
  const value = name.endsWith("_ids") ? `${known["agent_id"]},${NOTHINGS}` : NOTHINGS;
  const { status, body, text } = await owner.call("GET", `${asked}?${name}=${value}&${others}`);
  expect([status, body?.code], text).toEqual([404, "not_found"]);
});

it("narrows to a secret or retired task as to any other: that it is there is no secret", async () => {
  const secret = await addSuite(service, 2, { secret: true });
  const [asked = "", retired = ""] = secret.tasks;
  await service.sql("update tasks set is_active = false, retired_at = now() where id = $1", [retired]);
  await service.sql("update runs set task_id = $1 where screening_session_id = $2", [asked, known["session_id"]]);
  const runsOf = async (task: string) => {
    const { status, body } = await owner.call("GET", `/api/v1/runs?task_id=${task}`);
    return [status, body.total];
  };
  expect([await runsOf(asked), await runsOf(retired)]).toEqual([
    [200, 1],
    [200, 0],
  ]);
});
