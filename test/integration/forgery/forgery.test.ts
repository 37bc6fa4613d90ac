import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ground, prepare } from "../../agents/forgery/ground.ts";
import { carryOut, FORGERIES } from "../../agents/forgery/table.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let ground: Ground;

beforeAll(async () => {
  service = await startService();
  ground = await prepare(service);
  expect(ground.tasks.size).toBe(8);
});

afterAll(async () => {
  await ground.close();
  await service.stop();
});

describe.each(FORGERIES)("an agent that $how", (forgery) => {
  it(`${forgery.said === null ? "gains nothing over" : "is marked, as the board says, beside"} one that ${forgery.twin}`, async () => {
    const { gain, said } = await carryOut(ground, forgery);
    if (forgery.said === null) expect(gain.low, JSON.stringify(gain)).toBeLessThanOrEqual(0);
    if (forgery.said === null) expect(gain.value, JSON.stringify(gain)).toBeLessThan(10);
    else expect(said).toBe(true);
  });
});
