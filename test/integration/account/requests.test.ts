import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range } from "../runs/support.ts";

const ME = "/api/v1/auth/me";

let service: TestService;
let user: User;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

beforeEach(async () => {
  user = await newUser(service);
});

describe("the team override", () => {
  const apply = (by: User) => by.call("POST", "/api/v1/auth/apply-team-override");

  it("gives the plan team to a verified account on the list, and leaves enterprise", async () => {
    const lead = await newUser(service, { email: "lead@example.test", verified: true });
    const answer = await apply(lead);
    expect([answer.status, answer.body.plan]).toEqual([200, "team"]);
    await service.sql("update users set plan = 'enterprise' where id = $1", [lead.id]);
    expect((await apply(lead)).body.plan).toBe("enterprise");
    await service.sql("update users set email_verified = false where id = $1", [lead.id]);
    const unverified = await apply(lead);
    await service.sql("update users set email_verified = true, deletion_scheduled_for = now() where id = $1", [
      lead.id,
    ]);
    const leaving = await apply(lead);
    const stranger = await apply(user);
    for (const refused of [unverified, leaving, stranger]) {
      const { request_id: _id, ...problem } = refused.body;
      const { request_id: _other, ...expected } = stranger.body;
      expect([refused.status, problem]).toEqual([403, expected]);
    }
    expect((await user.call("GET", ME)).body.plan).toBe("free");
  });
});

describe("CSP reports", () => {
  const URL_WITH_SECRET = `https://app.example/board?token=s3cret#${"x".repeat(300)}`;
  const send = (body: unknown, type: string) =>
    caller(service).call("POST", "/api/v1/csp-reports", JSON.stringify(body), { "content-type": type });
  const logged = () => service.logs.filter((line) => line.includes("csp violation")).map((line) => JSON.parse(line));

  it.each([
    [
      "application/csp-report",
      { "csp-report": { "document-uri": URL_WITH_SECRET, "violated-directive": "img-src", "blocked-uri": "inline" } },
      0,
    ],
    [
      "application/reports+json",
      [
        { type: "deprecation", age: 1, url: "https://app.example/", body: { id: "x" } },
        ...range(3).map(() => ({
          type: "csp-violation",
          body: { documentURL: URL_WITH_SECRET, effectiveDirective: "img-src", blockedURL: "inline" },
        })),
      ],
      2,
    ],
    [
      "application/json; charset=utf-8",
      { "csp-report": { "document-uri": URL_WITH_SECRET, "violated-directive": "img-src", "blocked-uri": "inline" } },
      0,
    ],
  ])("are taken as %s and logged in one line without secrets", async (type, body, more) => {
    const before = logged().length;
    expect((await send(body, type)).status).toBe(204);
    const lines = logged().slice(before);
    expect(lines).toMatchObject([
      { directive: "img-src", blocked: "inline", document: "https://app.example/board", more },
    ]);
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });

  it("are logged in a bounded line", async () => {
    await send(
      { "csp-report": { "document-uri": "d".repeat(20_000), "violated-directive": "v".repeat(20_000) } },
      "application/csp-report",
    );
    expect(JSON.stringify(logged().at(-1)).length).toBeLessThan(1000);
  });

  it.each([
    ["another type", 415, "text/plain", {}],
    ["a type that only begins like one", 415, "application/csp-reports", {}],
    ["no report", 422, "application/csp-report", { report: 1 }],
    ["more than 64 KiB", 413, "application/csp-report", { "csp-report": { x: "x".repeat(65_536) } }],
  ])("are refused with %s: %i", async (_what, status, type, body) => {
    const before = logged().length;
    expect((await send(body, type)).status).toBe(status);
    expect(logged().length).toBe(before);
  });

  it("are taken no other way elsewhere", async () => {
    const answer = await user.call("PATCH", ME, "{}", { "content-type": "application/csp-report" });
    expect(answer.status).toBe(415);
  });
});
