import { auditServer } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { from } from "../runs/support.ts";

/** What the draft leaves to the server and this one leaves out: queries by GET. */
const LEFT_OUT = ["5A70", "6A70", "D6D5"];

let service: TestService;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

describe("GraphQL over HTTP by its own audits", () => {
  it("passes each of them but for queries by GET, which a server may leave out", async () => {
    const fetchFn: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...(init?.headers as object), ...from((addresses += 1)) } });
    const audits = await auditServer({ url: `${service.url}/graphql`, fetchFn });
    expect(audits.length).toBeGreaterThan(50);
    const failed = audits.filter(({ status }) => status !== "ok");
    expect(failed.filter(({ id }) => !LEFT_OUT.includes(id)).map(({ id, name }) => [id, name])).toEqual([]);
    expect(failed.map(({ id }) => id).toSorted()).toEqual(LEFT_OUT);
  });

  it.each([
    "text/html",
    "application/xml, text/*",
    "application/json;q=0",
    "application/json;q=0, application/graphql-response+json;q=0.0, */*",
    "application/graphql-response",
  ])("answers 406 to who accepts nothing that it sends: %s", async (accept) => {
    const headers = { accept, ...from((addresses += 1)) };
    const answer = await caller(service).call("POST", "/graphql", { query: "{ __typename }" }, headers);
    expect([answer.status, answer.body.code]).toEqual([406, "not_acceptable"]);
  });
});
