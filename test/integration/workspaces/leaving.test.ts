import { afterAll, beforeAll, expect, it } from "vitest";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { quietQueueClient } from "../runs/support.ts";
import { addTeam, TEAMS } from "./teams-support.ts";

const DELETION = "/api/v1/users/me/deletion";
const DAY = 86_400_000;

let service: TestService;
let ahead = 0;

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
});

afterAll(() => service.stop());

const leave = async (who: User) =>
  expect((await who.call("POST", DELETION, { password: PASSWORD })).status, "asked for").toBe(202);

/** Whether the account is deleted once its grace has elapsed. */
async function isGone({ id }: User): Promise<boolean> {
  ahead = 14 * DAY + 1000;
  await service.app.scheduled("17 3 * * *");
  ahead = 0;
  const [row] = await service.sql<{ email: string }>("select email from users where id = $1", [id]);
  return row?.email === `Deleted-${id}@deleted.invalid`;
}

it("a workspace is handed over to no account that awaits its deletion: that would wait for the workspace", async () => {
  const [owner, heir] = [await newUser(service, { plan: "team" }), await newUser(service, { plan: "team" })];
  const team = await addTeam(service, owner, { admin: heir });
  const handOver = () => owner.call("POST", `${TEAMS}/${team}/transfer-ownership`, { user_id: heir.id });
  await leave(heir);
  const refused = await handOver();
  expect([refused.status, refused.body.code]).toEqual([409, "account_leaving"]);
  expect((await heir.call("DELETE", DELETION)).status, "taken back").toBe(200);
  expect((await handOver()).status).toBe(200);
  expect((await heir.call("POST", DELETION, { password: PASSWORD })).body.code).toBe("workspace_ownership");
  await leave(owner);
  const back = { user_id: owner.id };
  expect((await heir.call("POST", `${TEAMS}/${team}/transfer-ownership`, back)).body.code).toBe("account_leaving");
  const kept = await heir.call("POST", `${TEAMS}/${team}/transfer-ownership`, { user_id: heir.id });
  expect(kept.status, "to its owner it changes nothing").toBe(200);
  expect(await isGone(owner)).toBe(true);
});

it("nobody joins a workspace whose owner awaits the deletion of the account", async () => {
  const [owner, guest] = [await newUser(service, { plan: "team" }), await newUser(service)];
  const team = await addTeam(service, owner);
  await owner.call("POST", `${TEAMS}/${team}/invitations`, { email: guest.email, role: "viewer" });
  await service.settled();
  const token = tokenOf(service.mailbox.list(guest.email)[0]);
  const accept = () => guest.call("POST", `${TEAMS}/invitations/accept`, { token });
  await leave(owner);
  const refused = await accept();
  expect([refused.status, refused.body.code]).toEqual([409, "account_leaving"]);
  expect(await isGone(owner)).toBe(true);
  expect(await service.sql("select from teams where id = $1", [team]), "its workspace too").toEqual([]);
});

it("an invitation still holds once the owner has taken the deletion back, and for a member that has joined", async () => {
  const [owner, guest] = [await newUser(service, { plan: "team" }), await newUser(service)];
  const team = await addTeam(service, owner);
  await owner.call("POST", `${TEAMS}/${team}/invitations`, { email: guest.email, role: "viewer" });
  await service.settled();
  const token = tokenOf(service.mailbox.list(guest.email)[0]);
  const accept = () => guest.call("POST", `${TEAMS}/invitations/accept`, { token });
  await leave(owner);
  expect((await accept()).status).toBe(409);
  expect((await owner.call("DELETE", DELETION)).status).toBe(200);
  expect((await accept()).status).toBe(200);
  // As one that was asked for by a version before.
  await service.sql("update users set deletion_scheduled_for = now() + interval '1 day' where id = $1", [owner.id]);
  expect((await accept()).status, "once more").toBe(200);
});
