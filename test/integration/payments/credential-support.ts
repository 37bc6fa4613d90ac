import { expect } from "vitest";
import { issueCredential } from "../../../shared/certification/issue-credential.ts";
import type { Answer, Caller, User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, type TestSuite } from "../runs/support.ts";

export const DAY = 86_400_000;
export const JWT = "application/vc+jwt";

/** A certification in force, its agent and the session that it goes by. */
export interface Certified {
  agent: string;
  id: string;
  session: string;
}

/** By what agents are certified here. */
export interface Office {
  service: TestService;
  owner: User;
  /** What the agents answer at, and the tasks that they are screened by. */
  endpoint: string;
  suite: TestSuite;
  now: () => Date;
}

/** Screens an agent of `owner` and certifies it for 90 days, as its certification does; not signed yet. */
export async function certifyUnsigned(
  { service, owner, endpoint, suite, now }: Office,
  fields: object,
  columns: Record<string, unknown>,
): Promise<Certified> {
  const agent = await addAgent(owner, { endpoint, ...fields });
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 2 });
  expect(batch.status, batch.text).toBe(200);
  await service.settled();
  const session: string = batch.body[0].screening_session_id;
  const row: Record<string, unknown> = {
    agent_id: agent,
    user_id: owner.id,
    status: "certified",
    price_usd: 39,
    eu_waiver_at: now(),
    screening_session_id: session,
    score: 92.4,
    issued_at: now(),
    expires_at: new Date(now().getTime() + 90 * DAY),
    ...columns,
  };
  const names = Object.keys(row);
  const [made] = await service.sql<{ id: string }>(
    `insert into certifications (${names.join(", ")}) overriding system value
     values (${names.map((_name, place) => `$${place + 1}`).join(", ")}) returning id`,
    Object.values(row),
  );
  return { agent, session, id: made?.id ?? "" };
}

/** The same, and signed. */
export async function certifySigned(
  office: Office,
  fields: object,
  columns: Record<string, unknown>,
): Promise<Certified & { jws: string }> {
  const certified = await certifyUnsigned(office, fields, columns);
  await issueCredential(contextOf(office.service, office.now), certified.id);
  return { ...certified, jws: (await keptCredential(office.service, certified.id)).jws ?? "" };
}

/** What a refund does to a certification. */
export async function refundCertification(service: TestService, id: string): Promise<void> {
  await service.sql("update certifications set status = 'refunded', revoked_at = now() where id = $1", [id]);
}

/** What is kept of the credential of a certification. */
export async function keptCredential(
  service: TestService,
  id: string,
): Promise<{ jws: string | null; kid: string | null; status_index: number }> {
  const [row] = await service.sql<{ jws: string | null; kid: string | null; status_index: number }>(
    "select jws, kid, status_index from certifications where id = $1",
    [id],
  );
  if (row === undefined) throw new Error("no such certification");
  return row;
}

export const pathOf = (agent: string) => `/api/v1/agents/${agent}/credential`;
export const listOf = (list: number | string) => `/api/v1/credentials/status/${list}`;
let addresses = 0;

/** Asks from an address of its own. */
export function askAs(by: Caller, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  addresses += 1;
  return by.call("GET", path, undefined, {
    "cf-connecting-ip": `10.99.${addresses >> 8}.${addresses & 255}`,
    ...headers,
  });
}
