import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

interface Event {
  name: string;
  user_id: string | null;
  properties: Record<string, unknown>;
}

/** What was kept about an account, oldest first. */
async function eventsOf(user: User): Promise<Event[]> {
  await service.settled();
  return service.sql<Event>(
    "select name, user_id, properties from analytics_events where user_id = $1 order by occurred_at",
    [user.id],
  );
}

const namesOf = async (user: User): Promise<string[]> => (await eventsOf(user)).map(({ name }) => name);

function post(path: string, body: unknown) {
  addresses += 1;
  return caller(service, { "cf-connecting-ip": `172.20.0.${addresses}` }).call("POST", `/api/v1/auth/${path}`, body);
}

async function token(user: User): Promise<string> {
  await service.settled();
  return tokenOf(service.mailbox.list(user.email)[0]);
}

describe("product analytics", () => {
  it("keeps a sign-up with the time that it took the server", async () => {
    const began = Date.now();
    const user = await newUser(service);
    const took = Date.now() - began;
    const [event, ...more] = await eventsOf(user);
    expect(more).toEqual([]);
    expect(event).toEqual({
      name: "signup_completed",
      user_id: user.id,
      properties: { method: "password", time_to_complete_ms: expect.any(Number) },
    });
    const ms = Number(event?.properties["time_to_complete_ms"]);
    expect(Number.isInteger(ms) && ms >= 0 && ms <= took).toBe(true);
  });

  it("keeps nothing of a sign-up or a sign-in that fails, nor of a sign-in by password", async () => {
    const user = await newUser(service);
    expect((await post("register", { email: user.email, password: "another fine password" })).status).toBe(409);
    expect((await post("login", { email: user.email, password: "another fine password" })).status).toBe(401);
    expect((await post("login", { email: user.email, password: PASSWORD })).status).toBe(200);
    expect(await namesOf(user)).toEqual(["signup_completed"]);
  });

  it("keeps the verification of an email once", async () => {
    const user = await newUser(service);
    await post("verify-email", { token: await token(user) });
    await service.sql("update email_tokens set used_at = null where user_id = $1", [user.id]);
    expect((await post("verify-email", { token: await token(user) })).status).toBe(200);
    expect((await post("verify-email", { token: "x" })).status).toBe(400);
    expect(await namesOf(user)).toEqual(["signup_completed", "email_verified"]);
  });

  it("keeps that a reset was asked for and that it was completed", async () => {
    const user = await newUser(service);
    await service.settled();
    await post("forgot-password", { email: user.email });
    expect(await namesOf(user)).toEqual(["signup_completed", "password_reset_requested"]);
    const reset = { token: await token(user), new_password: "a different horse entirely" };
    await Promise.all([post("reset-password", reset), post("reset-password", reset)]);
    expect(await namesOf(user)).toEqual(["signup_completed", "password_reset_requested", "password_reset_completed"]);
  });

  it("keeps nothing of a reset asked for by an account without a password, or by nobody", async () => {
    const user = await newUser(service);
    await service.sql("update users set password_hash = null where id = $1", [user.id]);
    await service.settled();
    const [before] = await service.sql("select count(*) from analytics_events");
    for (const email of [user.email, "nobody@example.test"]) await post("forgot-password", { email });
    await service.settled();
    expect(await service.sql("select count(*) from analytics_events")).toEqual([before]);
  });

  it("keeps an event once when the queue delivers it twice", async () => {
    service.broker.setChaos({ duplicate: true });
    const user = await newUser(service);
    expect(await namesOf(user)).toEqual(["signup_completed"]);
    service.broker.setChaos({ duplicate: false });
  });

  it("keeps an event of an account that is gone by then, without the account", async () => {
    service.faults.set({ service: "qstash", mode: "down" });
    const user = await newUser(service);
    await service.settled();
    service.faults.set({ service: "qstash", mode: "none" });
    const [owed] = await service.sql<{ id: string }>("select id from outbox where consumer = 'analytics'");
    await service.sql("delete from users where id = $1", [user.id]);
    await service.sql("update outbox set due_at = now()");
    await service.app.scheduled("* * * * *");
    await service.settled();
    const kept = await service.sql("select name, user_id from analytics_events where id = $1", [owed?.id]);
    expect(kept).toEqual([{ name: "signup_completed", user_id: null }]);
  });

  it("holds no address, name or token", async () => {
    const user = await newUser(service, { email: "very.private@example.test" });
    await service.settled();
    const events = await service.sql("select * from analytics_events where user_id = $1", [user.id]);
    expect(JSON.stringify(events)).not.toMatch(/private|example\.test/);
  });
});
