import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { dailyStates } from "../operations/daily-support.ts";

const DELETION = "/api/v1/users/me/deletion";
const DAY = 86_400_000;

let service: TestService;
let user: User;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  ahead = 0;
  user = await newUser(service);
});

/** Sets the account's row back to before the deletion was taken back, as a restored database has it. */
const setBack = (due: string) =>
  service.sql("update users set deletion_scheduled_for = $2 where id = $1", [user.id, due]);

/** When the account's deletion is due, asked for now. */
const ask = async (): Promise<string> =>
  (await user.call("POST", DELETION, { password: PASSWORD })).body.deletion_scheduled_for;

const takeBack = () => user.call("DELETE", DELETION);

async function night(): Promise<void> {
  ahead += 14 * DAY + 1000;
  await service.app.scheduled(DAILY);
}

const signsIn = async (): Promise<boolean> =>
  (await caller(service).call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD })).status === 200;

const row = async () =>
  (await service.sql("select email, deletion_scheduled_for from users where id = $1", [user.id]))[0];

it("an account that took its deletion back stays where the database was set back to before that", async () => {
  const due = await ask();
  expect((await takeBack()).status).toBe(200);
  await setBack(due);
  await night();
  expect(await row()).toEqual({ email: user.email, deletion_scheduled_for: null });
  expect(await signsIn()).toBe(true);
  await night();
  expect(await signsIn()).toBe(true);
});

it("it goes where it asks for the deletion again, as that is pending or anew", async () => {
  const due = await ask();
  await takeBack();
  await setBack(due);
  expect(await ask()).toBe(due);
  await night();
  expect(await signsIn()).toBe(false);

  ahead = 0;
  user = await newUser(service);
  await ask();
  await takeBack();
  ahead = 1000;
  await ask();
  await night();
  expect(await signsIn()).toBe(false);
});

it("nobody is deleted while the store can't tell", async () => {
  const due = await ask();
  await takeBack();
  await setBack(due);
  service.faults.set({ service: "redis", mode: "down" });
  await night();
  service.faults.set({ service: "redis", mode: "none" });
  expect((await row())?.["email"]).toBe(user.email);
  expect((await dailyStates(service)).get("delete accounts")?.last_error).not.toBeNull();
  await service.app.scheduled(DAILY);
  expect(await row()).toEqual({ email: user.email, deletion_scheduled_for: null });
});
