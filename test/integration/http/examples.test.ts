import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IDS } from "../../../functions/document/samples.ts";
import { ROUTES } from "../../../functions/routes.ts";
import type { Caller } from "../../stack/client.ts";
import { ownAnswers } from "../../stack/answers.ts";
import { PREPARATIONS, type Prepared } from "./examples-preparations.ts";
import { makeWorld, type World } from "./examples-world.ts";

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, unknown>;
}

/** The example of a request as the document has it, with the statuses of an answer that is no error. */
interface Example {
  method: string;
  path: string;
  query: string;
  type?: string;
  body?: string;
  statuses: number[];
}

/** What is open to everybody only where its owner wished so. */
const WISHED = {
  readRunOutput: "the answers of runs that were asked for while the agent had `publish_answers`, after their epoch",
  createRun: "trials of agents that allow them",
};

let world: World;
let examples: Map<string, Example[]>;
let addresses = 0;

/** The examples of an operation: one for each media type of its body. */
function examplesOf(path: string, method: string, { parameters = [], requestBody, responses }: Operation): Example[] {
  const given = (where: string) => parameters.filter((one) => one.in === where && one.example !== undefined);
  const named = Object.fromEntries(given("path").map(({ name, example }) => [name, String(example)] as const));
  const request = {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => named[name] ?? "no example"),
    query: new URLSearchParams(
      Object.fromEntries(given("query").map(({ name, example }) => [name, String(example)])),
    ).toString(),
    statuses: Object.keys(responses)
      .map(Number)
      .filter((status) => status < 400),
  };
  if (requestBody === undefined) return [request];
  return Object.entries(requestBody.content)
    .filter(([type]) => /[/+]json$|csp-report$/.test(type))
    .map(([type, { example }]) => ({ ...request, type, body: JSON.stringify(example) }));
}

beforeAll(async () => {
  world = await makeWorld();
  const { body } = await world.anonymous.call("GET", "/openapi.json");
  examples = new Map(
    Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [one.operationId, examplesOf(path, method, one)] as const),
    ),
  );
});

afterAll(() => world.service.stop());

/** Who sends the example where nothing else is prepared. */
function callerOf(auth: (typeof ROUTES)[number]["auth"]): Caller {
  if (auth === "admin") return world.operator;
  return auth === "none" ? world.anonymous : world.owner;
}

/** A text of the document with what its ids and other samples stand for here. */
function made(text: string, { values = {} }: Prepared): string {
  const { agent, rival, task, suite, run, session, team, owner } = world;
  const things: Record<string, string> = {
    [IDS.agent]: agent,
    [IDS.rival]: rival,
    [IDS.task]: task,
    [IDS.suite]: suite,
    [IDS.run]: run,
    [IDS.session]: session,
    [IDS.team]: team,
    [IDS.account]: owner.id,
    ...values,
  };
  return Object.entries(things).reduce((all, [from, to]) => all.replaceAll(from, to), text);
}

const check = ownAnswers();

/** What everybody may call by the document, but for what its owner has to wish. */
const OPEN = ROUTES.filter(({ auth, needs, id }) => auth === "open" && needs === undefined && !(id in WISHED)).map(
  ({ id }) => id,
);

/** Sends an example as whom its preparation names, else as `whom` says. */
async function sent(id: string, { method, path, query, type, body }: Example, whom: (by?: Caller) => Caller) {
  const prepared = (await PREPARATIONS[id]?.(world, body ?? "")) ?? {};
  addresses += 1;
  const target = made(path, prepared);
  const asked = prepared.query ?? (query === "" ? "" : `?${made(query, prepared)}`);
  const answer = await whom(prepared.by).call(
    method,
    target + asked,
    body === undefined ? undefined : made(body, prepared),
    {
      ...(type === undefined ? {} : { "content-type": type }),
      "cf-connecting-ip": `10.78.${addresses >> 8}.${addresses & 255}`,
      ...prepared.headers,
    },
  );
  return { ...answer, target: target + asked };
}

/** What is listed page by page. */
const LISTS = ROUTES.filter(({ query }) => query !== undefined && "page" in query.shape);

describe("the last page that can be asked for", () => {
  it.each(LISTS.map(({ id, auth }) => [id, auth] as const))("is empty: %s", async (id, auth) => {
    for (const example of examples.get(id) ?? []) {
      const query = "page=1000000000&page_size=100";
      const { status, headers, body, text } = await sent(id, { ...example, query }, (by) => by ?? callerOf(auth));
      expect(status, text).toBe(200);
      // One of them is a page for people.
      if (headers.get("content-type") === "application/json")
        expect(body).toMatchObject({ items: [], page: 1_000_000_000 });
    }
  });
});

describe("the example of each request, sent to the service", () => {
  it("is there for every operation", () => {
    expect([...examples.keys()].toSorted()).toEqual(ROUTES.map(({ id }) => id).toSorted());
    expect(Object.keys(PREPARATIONS).filter((id) => !examples.has(id))).toEqual([]);
  });

  it.each(OPEN)("is answered to anybody where the document says that anybody may call: %s", async (id) => {
    for (const example of examples.get(id) ?? []) {
      const answer = await sent(id, example, () => world.anonymous);
      expect([401, 403, 404], answer.text.slice(0, 500)).not.toContain(answer.status);
    }
  });

  it.each(ROUTES.map(({ id, auth }) => [id, auth] as const))("gets what the document says: %s", async (id, auth) => {
    for (const example of examples.get(id) ?? []) {
      const { method, statuses } = example;
      const answer = await sent(id, example, (by) => by ?? callerOf(auth));
      expect(statuses, `${method} ${answer.target}: ${answer.status} ${answer.text.slice(0, 500)}`).toContain(
        answer.status,
      );
      const given = {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: Buffer.from(answer.text),
      };
      expect(check(method, answer.target.split("?", 1)[0] ?? "", given)).toBeNull();
    }
  });
});
