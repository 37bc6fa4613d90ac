import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";

const PUBLIC_FIELDS = [
  "id name description has_endpoint connection_retired agent_protocol allow_trial publish_answers verified_state registry_status",
  "is_public is_active variant_of composite_score score_low score_high score_basis simulated uneven rank rank_low rank_high",
  "memorisation_gap memorised",
  "created_at updated_at",
].flatMap((line) => line.split(" "));
const OWNER_FIELDS = [
  "connection_mode endpoint manifest_url provider_url daemon_last_seen_at customer_llm_provider user_id team_id",
  "declared_configuration has_otlp_token workspace_activity auth_header_name",
].flatMap((line) => line.split(" "));

let service: TestService;
let owner: User;
let stranger: User;
let anonymous: Caller;

beforeAll(async () => {
  service = await startService({ overrides: { resolver: { query: () => Promise.resolve(["93.184.216.34"]) } } });
  [owner, stranger] = await Promise.all([newUser(service, { plan: "pro" }), newUser(service)]);
  anonymous = caller(service);
});

afterAll(() => service.stop());

async function made(fields: object = {}, by = owner): Promise<string> {
  const answer = await by.call("POST", AGENTS, { name: randomUUID(), ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

const fieldsOf = (body: object) => Object.keys(body).toSorted();

async function listed(by: Caller, query = ""): Promise<string[]> {
  const answer = await by.call("GET", `${AGENTS}?page_size=100${query}`);
  expect(answer.status).toBe(200);
  expect(answer.body.total).toBe(answer.body.items.length);
  return answer.body.items.map(({ id }: { id: string }) => id);
}

describe("a public agent", () => {
  it("shows its owner's fields to its owner alone, wherever it is read", async () => {
    const secret = "https://hidden-host.example.com/run";
    const id = await made({
      endpoint: secret,
      provider_url: "https://hidden-provider.example.com/",
      declared_configuration: { model: "hidden-model" },
    });
    const path = `${AGENTS}/${id}`;
    expect(fieldsOf((await owner.call("GET", path)).body)).toEqual([...PUBLIC_FIELDS, ...OWNER_FIELDS].toSorted());
    for (const by of [anonymous, stranger]) {
      const answer = await by.call("GET", path);
      expect(fieldsOf(answer.body)).toEqual(PUBLIC_FIELDS.toSorted());
    }
    const texts = [
      await anonymous.call("GET", path),
      await stranger.call("GET", path),
      await anonymous.call("GET", AGENTS),
      await anonymous.call("GET", `${path}/stats`),
      await anonymous.call("GET", `${path}/screening-sessions`),
      await stranger.call("PATCH", path, { description: "x" }),
      await stranger.call("DELETE", path),
    ];
    for (const { text } of texts) {
      expect(text).not.toMatch(/hidden/);
      expect(text).not.toContain(owner.id);
    }
  });

  it("has no score until a run counts", async () => {
    const { body } = await anonymous.call("GET", `${AGENTS}/${await made()}`);
    const { composite_score, score_low, score_high, score_basis, simulated, verified_state, registry_status } = body;
    expect({ composite_score, score_low, score_high, score_basis, simulated }).toEqual({
      composite_score: 0,
      score_low: 0,
      score_high: 100,
      score_basis: null,
      simulated: false,
    });
    expect([verified_state, registry_status]).toEqual(["unverified", "unregistered"]);
  });

  it("may be changed and deleted by its owner alone: 403 for another, 401 for nobody", async () => {
    const path = `${AGENTS}/${await made()}`;
    for (const [method, body] of [
      ["PATCH", { name: "taken over" }],
      ["DELETE", undefined],
    ] as const) {
      const [other, nobody] = [await stranger.call(method, path, body), await anonymous.call(method, path, body)];
      expect([other.status, other.body.code]).toEqual([403, "forbidden"]);
      expect([nobody.status, nobody.body.code]).toEqual([401, "unauthenticated"]);
    }
    expect((await owner.call("DELETE", path)).status).toBe(204);
  });

  it("that was deleted is 404 for others and inactive for its owner", async () => {
    const id = await made();
    await owner.call("DELETE", `${AGENTS}/${id}`);
    for (const by of [anonymous, stranger]) expect((await by.call("GET", `${AGENTS}/${id}`)).status).toBe(404);
    expect((await owner.call("GET", `${AGENTS}/${id}`)).body).toMatchObject({ id, is_active: false });
    expect((await owner.call("PATCH", `${AGENTS}/${id}`, { is_active: true })).body).toMatchObject({ is_active: true });
    expect((await anonymous.call("GET", `${AGENTS}/${id}`)).status).toBe(200);
  });
});

describe("a private agent", () => {
  it("is the same 404 as one that does not exist, whatever is asked of it", async () => {
    const [hidden, missing] = [await made({ is_public: false }), randomUUID()];
    expect((await owner.call("GET", `${AGENTS}/${hidden}`)).status).toBe(200);
    const ask = (by: Caller, id: string) =>
      Promise.all([
        by.call("GET", `${AGENTS}/${id}`, undefined, { "x-request-id": "same" }),
        by.call("GET", `${AGENTS}/${id}/stats`, undefined, { "x-request-id": "same" }),
        by.call("GET", `${AGENTS}/${id}/screening-sessions`, undefined, { "x-request-id": "same" }),
        by.call("PATCH", `${AGENTS}/${id}`, { name: "x" }, { "x-request-id": "same" }),
        by.call("DELETE", `${AGENTS}/${id}`, undefined, { "x-request-id": "same" }),
      ]);
    for (const by of [stranger, anonymous]) {
      const [ofHidden, ofMissing] = [await ask(by, hidden), await ask(by, missing)];
      expect(ofHidden.map(({ status, text }) => [status, text])).toEqual(
        ofMissing.map(({ status, text }) => [status, text]),
      );
      expect(ofHidden[0]?.status).toBe(404);
    }
  });
});

describe("the list of agents", () => {
  it("is the public ones for nobody, and the own ones of any visibility for an account", async () => {
    const user = await newUser(service);
    const [open, hidden, gone] = [await made({}, user), await made({ is_public: false }, user), await made({}, user)];
    await user.call("DELETE", `${AGENTS}/${gone}`);
    expect(await listed(user)).toEqual([hidden, open]);
    expect(await listed(user, "&scope=personal")).toEqual([hidden, open]);
    expect(await listed(user, "&active_only=false")).toEqual([gone, hidden, open]);
    for (const query of ["", "&active_only=false"]) {
      const shown = await listed(anonymous, query);
      expect(shown).toContain(open);
      expect(shown).not.toContain(hidden);
      expect(shown).not.toContain(gone);
    }
    expect(await listed(stranger)).toEqual([]);
  });

  it("takes scope and team_id only from an account, and not both", async () => {
    for (const query of ["scope=personal", `team_id=${randomUUID()}`]) {
      const answer = await anonymous.call("GET", `${AGENTS}?${query}`);
      expect([answer.status, answer.body.code]).toEqual([401, "unauthenticated"]);
    }
    const both = await owner.call("GET", `${AGENTS}?scope=personal&team_id=${randomUUID()}`);
    expect([both.status, both.body.code]).toEqual([422, "conflicting_parameters"]);
    expect((await owner.call("GET", `${AGENTS}?team_id=${randomUUID()}`)).status).toBe(404);
    for (const query of ["scope=team", "scope=", "team_id=x", "active_only=maybe"]) {
      expect((await owner.call("GET", `${AGENTS}?${query}`)).status, query).toBe(422);
    }
  });

  it("and every read of one may be kept by nobody in between", async () => {
    const path = `${AGENTS}/${await made()}`;
    for (const by of [anonymous, stranger, owner]) {
      for (const { headers } of [await by.call("GET", path), await by.call("GET", AGENTS)]) {
        expect(headers.get("cache-control")).toBe("private, no-store");
        expect(headers.get("vary")).toBe("Authorization, Cookie, Origin");
      }
    }
  });
});

describe("a variant", () => {
  const variantOf = (root: string, by = owner) => by.call("POST", AGENTS, { name: randomUUID(), variant_of: root });

  it("names an own active agent that is itself no variant", async () => {
    const root = await made();
    const variant = await variantOf(root);
    expect([variant.status, variant.body.variant_of]).toEqual([201, root]);
    const gone = await made();
    await owner.call("DELETE", `${AGENTS}/${gone}`);
    const roots = {
      "a variant": variant.body.id,
      "a deleted agent": gone,
      "another's agent": await made({}, stranger),
      nothing: randomUUID(),
    };
    for (const [name, id] of Object.entries(roots)) {
      const answer = await variantOf(id);
      expect([answer.status, answer.body.code], name).toEqual([422, "invalid_variant"]);
      expect(answer.body.errors).toMatchObject([{ in: "body", pointer: "/variant_of" }]);
    }
  });

  it("is not made of an agent by itself, nor of one that has variants", async () => {
    const [root, other] = [await made(), await made()];
    await variantOf(root);
    for (const [id, of] of [
      [root, other],
      [other, other],
    ] as const) {
      const answer = await owner.call("PATCH", `${AGENTS}/${id}`, { variant_of: of });
      expect([answer.status, answer.body.code]).toEqual([422, "invalid_variant"]);
    }
    expect((await owner.call("PATCH", `${AGENTS}/${other}`, { variant_of: root })).body.variant_of).toBe(root);
  });

  it("never ends in a chain when two agents name each other at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [await made(), await made()];
      const answers = await Promise.all([
        owner.call("PATCH", `${AGENTS}/${a}`, { variant_of: b }),
        owner.call("PATCH", `${AGENTS}/${b}`, { variant_of: a }),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]));
    }
  });
});
