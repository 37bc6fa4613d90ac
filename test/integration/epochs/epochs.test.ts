import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range } from "../runs/support.ts";

const DAY = 24 * 60 * 60_000;
const START = Date.parse("2026-11-22T09:30:00Z");

interface Epoch {
  epoch: string;
  commitment: string;
  committed_at: string;
  log_index: number;
  revealed_at: string | null;
  secret: string | null;
}

interface Entry {
  position: number | null;
  kind: string;
  epoch: string;
  commitment?: string;
  secret?: string;
  sealed?: true;
}

let service: TestService;
let time = START;

const minute = () => service.app.scheduled(EVERY_MINUTE);
const day = (n: number) => new Date(START + n * DAY).toISOString().slice(0, 10);
const hash = (hex = "") => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
const alarms = () => service.logs.filter((line) => line.includes("no usable epoch")).length;

/** What the log says about epochs, in its order. */
async function entries(): Promise<Entry[]> {
  const rows = await service.sql<{ position: string | null; entry: string }>(
    `select position, convert_from(entry, 'UTF8') as entry from log_entries
     where convert_from(entry, 'UTF8') ~ '"kind":"(epoch|reveal)"' order by id`,
  );
  return rows.map(({ position, entry }) => ({
    position: position === null ? null : Number(position),
    ...(JSON.parse(entry) as Omit<Entry, "position">),
  }));
}

/** Does all that is due: what the first trigger makes is in the log after the second at the latest, and noted by the third. */
async function keep(): Promise<void> {
  for (const _trigger of range(3)) await minute();
}

/** Days pass, each with its work. */
async function live(days: number): Promise<void> {
  for (const _day of range(days)) {
    time += DAY;
    await keep();
  }
}

async function listed(): Promise<Epoch[]> {
  const { body } = await caller(service).call("GET", "/api/v1/epochs?page_size=100");
  return (body as unknown as { items: Epoch[] }).items;
}

async function minting(): Promise<string> {
  const { body } = await caller(service).call("GET", "/readyz");
  return (body as unknown as { minting: string }).minting;
}

beforeEach(async () => {
  time = START;
  service = await startService({ epochs: false, overrides: { now: () => new Date(time) } });
});

afterEach(() => service.stop());

describe("the epochs", () => {
  it("are made once, however many triggers come at once, and listed once the log has their commitments", async () => {
    expect([await listed(), await minting()]).toEqual([[], "down"]);
    await Promise.all(range(20).map(minute));
    const said = await entries();
    const names = range(15).map(day);
    expect(
      said
        .filter(({ sealed }) => sealed !== true)
        .map(({ epoch }) => epoch)
        .toSorted(),
    ).toEqual(names);
    expect(
      said
        .filter(({ sealed }) => sealed === true)
        .map(({ epoch }) => epoch)
        .toSorted(),
    ).toEqual(names);
    expect(new Set(said.map(({ commitment }) => commitment)).size).toBe(30);
    for (const _trigger of range(2)) await Promise.all(range(20).map(minute));
    const placed = (await entries()).filter(({ sealed }) => sealed !== true);
    expect(await listed()).toEqual(
      names.toReversed().map((epoch) => {
        const entry = placed.find((one) => one.epoch === epoch);
        expect(entry).toEqual({ position: entry?.position, kind: "epoch", epoch, commitment: entry?.commitment });
        return {
          epoch,
          commitment: entry?.commitment,
          committed_at: new Date(time).toISOString(),
          log_index: entry?.position,
          revealed_at: null,
          secret: null,
        };
      }),
    );
    expect([await minting(), alarms(), (await entries()).length]).toEqual(["ok", 0, 30]);
  });

  it("come a day each and take one statement a minute where nothing is to do", async () => {
    await minute();
    expect([await listed(), await minting()]).toEqual([[], "down"]);
    await keep();
    service.counters.reset();
    const before = await service.sql("select * from epochs order by kind, name");
    await minute();
    const idle = service.counters.snapshot().db.requests;
    expect(await service.sql("select * from epochs order by kind, name")).toEqual(before);
    time += DAY;
    service.counters.reset();
    await minute();
    // Another one where the log was quick enough to take the entry up at the same trigger.
    expect(service.counters.snapshot().db.requests - idle).toBeOneOf([1, 2]);
    await keep();
    expect((await listed()).map(({ epoch }) => epoch)).toEqual(range(16).map(day).toReversed());
  });

  it("publish their secrets seven days after their end, there and in the log, but never a sealed one", async () => {
    await keep();
    time = Date.parse(`${day(8)}T00:00:00Z`) - 1;
    await keep();
    expect((await listed()).filter(({ secret }) => secret !== null)).toEqual([]);
    time += 1;
    await Promise.all(range(20).map(minute));
    const [revealed, ...others] = (await listed()).filter(({ secret }) => secret !== null);
    expect(others).toEqual([]);
    expect(revealed).toMatchObject({ epoch: day(0), revealed_at: new Date(time).toISOString() });
    expect(hash(revealed?.secret ?? "")).toBe(revealed?.commitment);
    const said = (await entries()).filter(({ kind }) => kind === "reveal");
    expect(said).toMatchObject([{ kind: "reveal", epoch: day(0), secret: revealed?.secret }]);
    await live(12);
    const sealed = await service.sql<{ count: string }>("select count(secret) from epochs where kind = 'sealed'");
    expect(sealed).toEqual([{ count: "0" }]);
    await expect(
      service.sql("update epochs set secret = repeat('0', 64), revealed_at = now() where kind = 'sealed'"),
    ).rejects.toThrow("epochs_sealed_stay");
  });

  it("are all on the page of the log, what is revealed of them before one turns it", async () => {
    await keep();
    await live(24);
    const stranger = caller(service);
    const pages = [await stranger.call("GET", "/log"), await stranger.call("GET", "/log?epochs=2")];
    const shown = pages.map(({ text }) => [...text.matchAll(/<td>(\d{4}-\d\d-\d\d)<\/td>/g)].map(([, name]) => name));
    const all = await listed();
    expect(shown.flat()).toEqual(all.map(({ epoch }) => epoch));
    const revealed = all.find(({ secret }) => secret !== null);
    expect(shown[0]).toContain(revealed?.epoch);
    expect(pages[0]?.text).toContain(`<code>${revealed?.secret}</code>`);
    expect(pages[0]?.text).toContain('href="/log?epochs=2#epochs"');
  });

  it("outlive an outage of a week without a gap, and one that can't be opened holds up no other", async () => {
    await keep();
    await live(9);
    await service.sql("update epochs set sealed = 'gone.AAAA' where name = $1", [day(3)]);
    time += 7 * DAY;
    await Promise.all(range(20).map(minute));
    expect([await minting(), alarms()]).toEqual(["ok", 0]);
    await keep();
    const all = await listed();
    expect(all.map(({ epoch }) => epoch)).toEqual(range(31).map(day).toReversed());
    const open = all.filter(({ secret }) => secret !== null).map(({ epoch }) => epoch);
    expect(open).toEqual([0, 1, 2, 4, 5, 6, 7, 8].map(day).toReversed());
    expect(service.logs.some((line) => line.includes("can't be revealed") && line.includes(day(3)))).toBe(true);
  });

  it("raise an alarm where their commitments come late, which only the first two may", async () => {
    await keep();
    time += 30 * DAY;
    await keep();
    expect([await minting(), alarms()]).toEqual(["down", 3]);
    await live(1);
    expect(await minting()).toBe("down");
    const before = alarms();
    await live(1);
    expect([await minting(), alarms()]).toEqual(["ok", before]);
    const late = await service.sql<{ name: string }>("select distinct name from epochs where not is_timely order by 1");
    expect(late.map(({ name }) => name)).toEqual([day(30), day(31)]);
  });
});
