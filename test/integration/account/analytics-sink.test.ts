import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser } from "../../stack/client.ts";
import { type Listening, json, listen } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let sink: Listening;
let status = 200;
const taken: { key: string | undefined; event: { id: string; name: string; user_id: string } }[] = [];

beforeAll(async () => {
  sink = await listen(({ headers, body }) => {
    if (status === 200) taken.push({ key: String(headers["idempotency-key"]), event: JSON.parse(body.toString()) });
    return json(status, {});
  });
  service = await startService({ settings: { ANALYTICS_SINK_URL: `${sink.url}/events` } });
});

afterAll(async () => {
  await service.stop();
  await sink.close();
});

describe("the analytics sink", () => {
  it("gets each event with its id as Idempotency-Key, beside the table", async () => {
    const user = await newUser(service);
    await service.settled();
    const [kept] = await service.sql<{ id: string }>("select id from analytics_events where user_id = $1", [user.id]);
    expect(taken).toEqual([
      { key: kept?.id, event: expect.objectContaining({ id: kept?.id, name: "signup_completed", user_id: user.id }) },
    ]);
  });

  it("that is down gets the event later, and the table has it once", async () => {
    taken.length = 0;
    status = 500;
    const user = await newUser(service);
    await service.settled();
    status = 200;
    await service.broker.advance(60_000);
    expect(taken.map(({ event }) => event.user_id)).toEqual([user.id]);
    expect(await service.sql("select from analytics_events where user_id = $1", [user.id])).toHaveLength(1);
  });
});
