import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { TEAMS } from "../workspaces/teams-support.ts";
import { addAgent, range } from "../runs/support.ts";
import {
  announce,
  EVERY_MINUTE,
  logOf,
  newTeam,
  roaming,
  startReceiver,
  subscribe,
  type Webhook,
  WEBHOOKS,
} from "./support.ts";

/** How many attempts are deleted at once, and in a minute. */
const PIECE = 5000;
const MOST = 10 * PIECE;
/** A log of more than two pieces. */
const LONG = 2 * PIECE + 2000;

let service: TestService;
let receiver: Consumer;
let owner: User;
let agent: string;

beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  owner = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(owner);
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

beforeEach(async () => {
  for (const table of ["webhooks", "webhook_events", "removed_webhooks"]) await service.sql(`delete from ${table}`);
  receiver.answer = () => ({ status: 200 });
  receiver.seen.length = 0;
});

const at = (path: string): string => `${receiver.url}/${path}`;
const minute = async () => {
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
};
const remove = ({ id }: Webhook) => owner.call("DELETE", `${WEBHOOKS}/${id}`);
const numberOf = async (text: string, params: unknown[] = []): Promise<number> =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`, params))[0]?.n ?? -1;
const attempts = ({ id }: Webhook) => numberOf("webhook_deliveries where webhook_id = $1", [id]);

/** Attempts of one event that have been waiting to be made since a day, longer than a lost message is waited for. */
async function addWaiting({ id }: Webhook, many: number): Promise<void> {
  await service.sql(
    `with event as (
      insert into webhook_events (type, agent_id, body) values ('run.completed', $2, '{}') returning id
    ) insert into webhook_deliveries (webhook_id, event_id, attempt, next_attempt_at)
      select $1, event.id, n, now() - interval '1 day' from event, generate_series(1, $3::int) n`,
    [id, agent, many],
  );
}

describe("a subscription that is deleted", () => {
  it("is not found by changes of it that come at the same time", async () => {
    const busy = roaming(owner);
    for (const _round of range(6)) {
      const { id } = await subscribe(owner, at("raced"));
      const [deleted, ...changes] = await Promise.all([
        busy.call("DELETE", `${WEBHOOKS}/${id}`),
        ...range(6).flatMap((n) => [
          busy.call("PATCH", `${WEBHOOKS}/${id}`, { description: `${n}` }),
          busy.call("POST", `${WEBHOOKS}/${id}/rotate-secret`, {}),
        ]),
      ]);
      expect(deleted?.status).toBe(204);
      expect(changes.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
    }
  });

  it("is gone at once with its log, which is deleted 50,000 attempts a minute; those of others stay", async () => {
    const [goes, stays] = [await subscribe(owner, at("goes")), await subscribe(owner, at("stays"))];
    await announce(service, agent);
    const [told] = await logOf(owner, goes.id);
    await addWaiting(goes, MOST);
    receiver.seen.length = 0;
    expect((await remove(goes)).status).toBe(204);
    expect(await attempts(goes)).toBe(MOST + 1);
    const log = `${WEBHOOKS}/${goes.id}/deliveries`;
    for (const [method, path] of [
      ["GET", log],
      ["POST", `${log}/${told?.id}/redeliver`],
      ["POST", `${WEBHOOKS}/${goes.id}/test`],
      ["DELETE", `${WEBHOOKS}/${goes.id}`],
    ] as const)
      expect((await owner.call(method, path)).status).toBe(404);
    const left: number[] = [];
    for (let minutes = 0; minutes < 2; minutes += 1) {
      await minute();
      left.push(await attempts(goes));
    }
    expect(left).toEqual([1, 0]);
    expect(await logOf(owner, stays.id)).toHaveLength(1);
    expect(receiver.seen).toEqual([]);
  });

  it("keeps no attempt of others waiting that have lost their message", async () => {
    const [goes, stays] = [await subscribe(owner, at("goes")), await subscribe(owner, at("stays"))];
    await addWaiting(goes, LONG);
    await addWaiting(stays, 1);
    await service.sql(
      "update webhook_deliveries set next_attempt_at = next_attempt_at + interval '1 hour' where webhook_id = $1",
      [stays.id],
    );
    await remove(goes);
    await minute();
    expect((await logOf(owner, stays.id)).map(({ status }) => status)).toEqual(["succeeded"]);
    expect(receiver.seen).toHaveLength(1);
  });

  it("while an attempt is under way has no further one, whatever comes of that", async () => {
    const webhook = await subscribe(owner, at("fails"));
    receiver.answer = async () => {
      await remove(webhook);
      return { status: 500 };
    };
    await announce(service, agent);
    expect(receiver.seen).toHaveLength(1);
    expect(await numberOf("webhook_deliveries where status = 'pending'")).toBe(0);
  });

  it("is forgotten an hour later, and not while an attempt of it is left", async () => {
    const webhook = await subscribe(owner, at("goes"));
    await remove(webhook);
    await minute();
    expect(await numberOf("removed_webhooks")).toBe(1);
    await service.sql("update removed_webhooks set removed_at = removed_at - interval '61 minutes'");
    await addWaiting(webhook, 1);
    await minute();
    expect([await attempts(webhook), await numberOf("removed_webhooks")]).toEqual([0, 1]);
    await minute();
    expect(await numberOf("removed_webhooks")).toBe(0);
  });

  it("with its workspace leaves no attempt behind either", async () => {
    const team = await newTeam(service, owner);
    const shared = await addAgent(owner, { team_id: team });
    const webhook = await subscribe(owner, at("team"), { agent_id: shared });
    await announce(service, shared);
    expect(await attempts(webhook)).toBe(1);
    // A workspace that has agents is not removed.
    await service.sql("update agents set team_id = null where id = $1", [shared]);
    expect((await owner.call("DELETE", `${TEAMS}/${team}`)).status).toBe(204);
    expect(await numberOf("webhooks")).toBe(0);
    await minute();
    expect(await attempts(webhook)).toBe(0);
  });
});
