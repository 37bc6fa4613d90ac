import { randomUUID } from "node:crypto";
import { Stripe } from "stripe";
import { IDS, SAMPLES } from "../../../functions/document/samples.ts";
import { codeAt, stepAt } from "../../../shared/identity/second-factor/totp.ts";
import { type Answer, type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { shopper, subscriber } from "../payments/billing-support.ts";
import { addListing, hire } from "../payments/marketplace-support.ts";
import { secretOf } from "../runs/minted-support.ts";
import { addAgent, addRun, addSuite } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";
import { DEVICES } from "./examples-devices.ts";
import { PASSKEYS } from "./examples-passkeys.ts";
import { addBatch, type World } from "./examples-world.ts";

/** How an example is sent where the caller of its class, in the world as it is, would not do. */
export interface Prepared {
  by?: Caller;
  /** What stands in the place of the example's values, by what they are in the document. */
  values?: Record<string, string>;
  headers?: Record<string, string>;
  /** The query, for what the document says no example of. */
  query?: string;
}

export type Prepare = (world: World, body: string) => Promise<Prepared> | Prepared;

const API = "/api/v1";
const PASSWORDS = { [String(SAMPLES["password"])]: PASSWORD };
const TOKEN = String(SAMPLES["token"]);
const TOTP_CODE = String(SAMPLES["SecondFactorCode.code"]);

function made<T>({ status, body, text }: Answer<T>): T {
  if (status >= 300) throw new Error(text);
  return body;
}

const codeOf = (secret: string, steps: number): string => codeAt(secret, stepAt(new Date()) + steps);

/** An account with a second factor, and the secret of its app. */
async function enrolled(world: World): Promise<{ user: User; secret: string }> {
  const user = await newUser(world.service);
  const { secret } = made(await user.call("POST", `${API}/users/me/totp`));
  made(await user.call("POST", `${API}/users/me/totp/confirm`, { code: codeOf(secret, -1) }));
  return { user, secret };
}

/** The address that the document's examples speak of, at one agent's path. */
const at = (path: string): string => `https://agents.example.com/${path}`;

/** A run and its session that wait for a queue which takes nothing. */
async function waiting({ service, owner, agent, task }: World): Promise<Record<string, string>> {
  service.faults.set({ service: "qstash", mode: "error" });
  const [first] = await addBatch(owner, agent, task);
  await service.settled();
  await service.sql("delete from outbox");
  service.faults.set({ service: "qstash", mode: "none" });
  return { [IDS.run]: first?.id ?? "", [IDS.session]: first?.screening_session_id ?? "" };
}

/** A thing that the owner makes by POST, in the place of the id of the operation's path. */
const fresh =
  (path: string, body: (world: World) => object, placeholder: string = IDS.other): Prepare =>
  async (world) => ({ values: { [placeholder]: made(await world.owner.call("POST", API + path, body(world))).id } });

const key = fresh("/api-keys", () => ({ name: randomUUID(), scope: "write" }));
const schedule = fresh("/screening-schedules", ({ agent, suite }) => ({
  agent_id: agent,
  suite_id: suite,
  cron: "0 6 * * 1",
}));
const scorecard = fresh("/scorecards", () => ({
  name: randomUUID(),
  weights: { correctness: 1, latency: 1, cost: 1, tool_efficiency: 1, robustness: 1 },
}));
const hook = fresh(
  "/webhooks",
  () => ({ url: "https://hooks.example.com/one", event_types: ["run.completed"] }),
  IDS.webhook,
);
const workspace: Prepare = async (world) => ({
  values: {
    [IDS.team]: await addTeam(world.service, world.owner, { editor: world.member }),
    [IDS.account]: world.member.id,
  },
});
const proposal: Prepare = async ({ owner }, _body) => ({
  values: {
    [IDS.other]: made(
      await owner.call("POST", `${API}/task-submissions`, {
        title: randomUUID(),
        domain: "math",
        prompt: "What is six times seven?",
        grader: { type: "exact" },
        expected_output: "42",
        rationale: "Nobody knows the question",
      }),
    ).id,
  },
});
const somebody: Prepare = async ({ service }) => ({ by: await newUser(service, { plan: "pro" }), values: PASSWORDS });
const withoutPassword: Prepare = async ({ service }) => {
  const by = await newUser(service);
  await service.sql("update users set password_hash = null where id = $1", [by.id]);
  return { by };
};
const mailed =
  (ask: (world: World, user: User) => Promise<unknown>): Prepare =>
  async (world) => {
    const user = await newUser(world.service);
    await ask(world, user);
    await world.service.settled();
    return { values: { [TOKEN]: tokenOf(world.service.mailbox.list(user.email)[0]) } };
  };
const evidence: Prepare = async ({ owner, minted, service }) => {
  const { jws, statement } = made(await owner.call("GET", `${API}/runs/${minted}/evidence`));
  const { response } = made(await owner.call("GET", `${API}/runs/${minted}/output`));
  const secret = await secretOf(service, statement.credentialSubject.instance.epoch);
  return {
    values: {
      [String(SAMPLES["jws"])]: jws,
      [String(SAMPLES["EpochRead.secret"])]: Buffer.from(secret).toString("hex"),
      eyJvdXRwdXQiOiAyNjV9: response.body_base64,
      ["c7".repeat(32)]: response.salt,
    },
  };
};
const removable: Prepare = async ({ owner }) => ({ values: { [IDS.agent]: await addAgent(owner) } });
const invited = async ({ owner, team }: World, email: string): Promise<{ id: string }> =>
  made(await owner.call("POST", `${API}/teams/${team}/invitations`, { email, role: "viewer" }));
const purchase: Prepare = async ({ service, listing }) => {
  const by = await newUser(service, { plan: "pro", verified: true });
  return { by, values: { [IDS.other]: (await hire(service, by, listing)).id } };
};

/** What has to be done before the example of an operation is sent, and by whom it is sent. */
export const PREPARATIONS: Readonly<Record<string, Prepare>> = {
  readApiKey: key,
  updateApiKey: key,
  revokeApiKey: key,
  rotateApiKey: key,
  endCodeHost: async ({ anonymous }) => {
    const begun = await anonymous.call("GET", `${API}/auth/codehost`);
    const cookie = `service_codehost=${cookiesOf(begun)["service_codehost"]?.value ?? ""}`;
    return { headers: { cookie }, query: new URL(begun.headers.get("location") ?? "").search };
  },
  ...DEVICES,
  ...PASSKEYS,
  verifyEmail: mailed(async () => undefined),
  resetPassword: mailed(({ anonymous }, { email }) => anonymous.call("POST", `${API}/auth/forgot-password`, { email })),
  resendVerification: somebody,
  mailDeletionConfirmationLink: withoutPassword,
  setPassword: withoutPassword,
  requestEmailChange: somebody,
  confirmEmail: async ({ service }) => {
    const email = "moved@example.test";
    made(await (await newUser(service)).call("POST", `${API}/users/me/email`, { email, password: PASSWORD }));
    await service.settled();
    return { values: { [TOKEN]: tokenOf(service.mailbox.list(email)[0]) } };
  },
  unlinkCodeHost: async ({ service }) => {
    const by = await newUser(service);
    await service.sql("insert into identities (provider, provider_user_id, user_id) values ('dev', 'one', $1)", [
      by.id,
    ]);
    return { by };
  },
  updateMe: somebody,
  applyTeamOverride: async ({ service }) => ({
    by: await newUser(service, { email: "lead@example.test", verified: true }),
  }),
  endSessions: somebody,
  endSession: async ({ service, anonymous }) => {
    const by = await newUser(service);
    await anonymous.call("POST", `${API}/auth/login`, { email: by.email, password: PASSWORD });
    const { items } = made(await by.call("GET", `${API}/auth/sessions`));
    return { by, values: { [IDS.other]: items.find((one: { current: boolean }) => !one.current).id } };
  },
  requestDeletion: somebody,
  cancelDeletion: somebody,
  beginTotp: somebody,
  confirmTotp: async ({ service }) => {
    const by = await newUser(service);
    const { secret } = made(await by.call("POST", `${API}/users/me/totp`));
    return { by, values: { [TOTP_CODE]: codeOf(secret, 0) } };
  },
  removeTotp: async (world) => {
    const { user, secret } = await enrolled(world);
    return { by: user, values: { [TOTP_CODE]: codeOf(secret, 0) } };
  },
  completeSignIn: async (world) => {
    const { user, secret } = await enrolled(world);
    const begun = await world.anonymous.call("POST", `${API}/auth/login`, { email: user.email, password: PASSWORD });
    const cookie = Object.entries(cookiesOf(begun)).map(([name, { value }]) => `${name}=${value}`);
    return { headers: { cookie: cookie.join("; ") }, values: { [TOTP_CODE]: codeOf(secret, 0) } };
  },
  refresh: async ({ service, anonymous }) => {
    const { email } = await newUser(service);
    const begun = await anonymous.call("POST", `${API}/auth/login`, { email, password: PASSWORD });
    return { headers: { cookie: `service_refresh=${cookiesOf(begun)["service_refresh"]?.value ?? ""}` } };
  },
  logout: somebody,
  createAgent: somebody,
  createAgents: somebody,
  discoverAgent: somebody,
  registerAgent: somebody,
  deleteAgent: removable,
  transferAgent: removable,
  exportTraces: async ({ owner, rival }) => {
    const { token } = made(await owner.call("POST", `${API}/agents/${rival}/otlp-token`));
    return { headers: { authorization: `Bearer ${token}` } };
  },
  readLeaderboardOfDay: ({ day }) => ({ values: { [String(SAMPLES["day"])]: day } }),
  rotateSecretSuite: async ({ service }) => {
    const [row] = await service.sql<{ id: string }>("select id from suites where is_secret limit 1");
    return { values: { [IDS.suite]: row?.id ?? "" } };
  },
  withdrawSubmission: proposal,
  approveSubmission: proposal,
  rejectSubmission: proposal,
  retireTask: async ({ service }) => ({ values: { [IDS.task]: (await addSuite(service, 1)).tasks[0] ?? "" } }),
  callMcp: () => ({ headers: { accept: "application/json, text/event-stream" } }),
  checkOutPlan: async ({ service }) => ({ by: await shopper(service) }),
  openBillingPortal: async ({ service }) => ({ by: (await subscriber(service)).user }),
  cancelPlan: async ({ service }) => ({ by: (await subscriber(service)).user }),
  checkOutCertification: async ({ owner }) => ({
    values: { [IDS.agent]: await addAgent(owner, { endpoint: at("certified") }) },
  }),
  openSellerAccount: async ({ service }) => ({ by: await newUser(service, { plan: "pro", verified: true }) }),
  createListing: async ({ seller }) => ({ by: seller, values: { [IDS.agent]: await addAgent(seller) } }),
  readListing: ({ listing }) => ({ values: { [IDS.other]: listing } }),
  deleteListing: async ({ seller }) => ({ by: seller, values: { [IDS.other]: (await addListing(seller)).id } }),
  createPurchase: async ({ service, listing }) => ({
    by: await newUser(service, { plan: "pro", verified: true }),
    values: { [IDS.other]: listing },
  }),
  readPurchase: purchase,
  receiveProviderEvent: async ({ service }, payload) => {
    const secret = service.settings["STRIPE_WEBHOOK_SECRET"] ?? "";
    const header = await Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret });
    return { headers: { "stripe-signature": header } };
  },
  readLogTile: async ({ anonymous }) => {
    const [, size = ""] = (await anonymous.call("GET", "/log/checkpoint")).text.split("\n");
    return { values: { "0/000": `0/000.p/${size}` } };
  },
  verifyEvidence: evidence,
  regradeEvidence: evidence,
  updateRun: async ({ owner, service, task, token }) => {
    const agent = await addAgent(owner, { endpoint: at("later") });
    const run = await addRun(owner, agent, task);
    await service.settled();
    return { by: caller(service, { authorization: `Bearer ${token()}` }), values: { [IDS.run]: run } };
  },
  compareScreeningSessions: async ({ service, owner, rival, task }) => {
    const [first] = await addBatch(owner, rival, task);
    await service.settled();
    return { values: { [IDS.baseline]: first?.screening_session_id ?? "" } };
  },
  cancelRun: async (world) => ({ values: await waiting(world) }),
  cancelScreeningSession: async (world) => ({ values: await waiting(world) }),
  rerunScreeningSession: async ({ service, owner, task }) => {
    const [first] = await addBatch(owner, await addAgent(owner, { endpoint: at("failing") }), task);
    await service.settled();
    return { values: { [IDS.session]: first?.screening_session_id ?? "" } };
  },
  readSchedule: schedule,
  updateSchedule: schedule,
  deleteSchedule: schedule,
  readWebhook: hook,
  updateWebhook: hook,
  deleteWebhook: hook,
  testWebhook: hook,
  rotateWebhookSecret: hook,
  listWebhookDeliveries: hook,
  redeliverWebhook: async (world, body) => {
    const { values = {} } = await hook(world, body);
    const path = `${API}/webhooks/${values[IDS.webhook] ?? ""}`;
    made(await world.owner.call("POST", `${path}/test`));
    await world.service.settled();
    const { items } = made(await world.owner.call("GET", `${path}/deliveries`));
    return { values: { ...values, [IDS.other]: items[0].id } };
  },
  updateTeamMember: workspace,
  removeTeamMember: workspace,
  transferTeamOwnership: workspace,
  deleteTeam: workspace,
  updateTeam: workspace,
  revokeTeamInvitation: async (world) => ({ values: { [IDS.other]: (await invited(world, "bo@example.test")).id } }),
  acceptTeamInvitation: async (world) => {
    const by = await newUser(world.service, { verified: true });
    await invited(world, by.email);
    await world.service.settled();
    return { by, values: { [TOKEN]: tokenOf(world.service.mailbox.list(by.email)[0]) } };
  },
  readScorecard: scorecard,
  updateScorecard: scorecard,
  deleteScorecard: scorecard,
  readScorecardBoard: scorecard,
};
