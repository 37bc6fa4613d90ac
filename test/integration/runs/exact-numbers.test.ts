import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import type { Handler } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, startAgent } from "./support.ts";

const KEY = "9007199254740993";
const NEIGHBOUR = "9007199254740992";

let service: TestService;
let endpoint: Consumer;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const reply = (body: string) => ({ status: 200, headers: { "content-type": "application/json" }, body });
const idIn = (body: Buffer): string => JSON.stringify((JSON.parse(body.toString()) as { id: string }).id);

/** How an agent gives a number of these digits: as JSON, never as a string. */
const WAYS: [way: string, agent: object, answer: (digits: string) => Handler][] = [
  ["at once", {}, (digits) => () => reply(`{"output":${digits}}`)],
  [
    "by callback",
    {},
    (digits) => async (request) => {
      const { callback } = JSON.parse(request.body.toString()) as { callback: { url: string; token: string } };
      const { status } = await fetch(callback.url, {
        method: "PATCH",
        headers: { authorization: `Bearer ${callback.token}`, "content-type": "application/json" },
        body: `{"status":"completed","output":${digits}}`,
      });
      expect(status).toBe(200);
      return { status: 202 };
    },
  ],
  [
    "as the data of an A2A message",
    { agent_protocol: "a2a" },
    (digits) => (request) =>
      reply(
        `{"jsonrpc":"2.0","id":${idIn(request.body)},"result":{"kind":"message","parts":[{"kind":"data","data":${digits}}]}}`,
      ),
  ],
];

const GRADERS: [grader: object, columns: object][] = [
  [{ type: "numeric" }, {}],
  [{ type: "exact" }, {}],
  [{ type: "set_f1" }, { expected_output: JSON.stringify([KEY]) }],
  [{ type: "json_fields" }, { expected_output: JSON.stringify({ id: KEY }) }],
];

it.each(WAYS.flatMap((way) => GRADERS.map((graded) => [...way, ...graded] as const)))(
  "a whole number beyond 2^53 given %s is equal to itself and to none of its neighbours (%#)",
  async (_way, fields, answer, grader, columns) => {
    const owner = await newUser(service, { plan: "pro" });
    const agent = await addAgent(owner, { endpoint: endpoint.url, ...fields });
    const { tasks } = await addSuite(service, 1, {
      columns: { grader, expected_output: JSON.stringify(KEY), output_format: "json", ...columns },
    });
    const wrap = (digits: string): string => {
      if (grader === GRADERS[2]?.[0]) return `[${digits}]`;
      return grader === GRADERS[3]?.[0] ? `{"id":${digits}}` : digits;
    };
    const passed = async (digits: string): Promise<unknown> => {
      endpoint.answer = answer(wrap(digits));
      const id = await addRun(owner, agent, tasks[0] ?? "");
      await service.settled();
      const { body } = await owner.call("GET", `/api/v1/runs/${id}`);
      return { status: body.status, passed: body.passed };
    };
    expect(await passed(KEY)).toEqual({ status: "completed", passed: true });
    expect(await passed(`${KEY}.0`)).toEqual({ status: "completed", passed: true });
    for (const other of [NEIGHBOUR, `${NEIGHBOUR}.0`])
      expect(await passed(other)).toEqual({ status: "completed", passed: false });
    expect(await passed(`-${KEY}`)).toEqual({ status: "completed", passed: false });
  },
);
