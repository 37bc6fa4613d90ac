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
  const { prevented, twin } = forgery;
  const outcome = [prevented && "gains nothing over", forgery.said && "is marked on the board beside"];
  it(`${outcome.filter(Boolean).join(", and ")} one that ${twin}`, async () => {
    const { gain, said } = await carryOut(ground, forgery);
    expect(prevented || said !== null).toBe(true);
    expect(said).not.toBe(false);
    if (!prevented) return;
    expect(gain.low, JSON.stringify(gain)).toBeLessThanOrEqual(0);
    expect(gain.value, JSON.stringify(gain)).toBeLessThan(10);
  });
});
