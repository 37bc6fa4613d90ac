import { describe, expect, it } from "vitest";
import {
  createStreams,
  type Look,
  MOST_STREAMS,
  type OpenStream,
  type Streams,
} from "../../../shared/platform/streams.ts";

const open = (streams: Streams, at: number, reader: object = {}): OpenStream =>
  streams.open({ caller: "a", viewer: null, subject: "run:1", ...reader }, at);

/** A look that finds this text, each time anew. */
const finds =
  (text: string): Look =>
  () => {
    const update = { text, cursor: "1", hasNews: true, ended: false };
    return Promise.resolve({ updateFor: () => update });
  };

/** All that a stream has to read, piece by piece. */
function readAll(stream: OpenStream | undefined): string {
  let text = "";
  for (let piece = stream?.read(0); piece !== "" && typeof piece === "string"; piece = stream?.read(0)) text += piece;
  return text;
}

const codeOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

/** Looks at a subject that has come to `state`; counts the looks, and has no update for those who do not know `from` at least. */
function watched() {
  const seen = { state: 0, looks: 0, viewers: [] as (string | null)[] };
  const look: Look = async (viewers, cursor) => {
    seen.looks += 1;
    seen.viewers = [...viewers];
    const { state } = seen;
    return Promise.resolve({
      updateFor: (viewer, known) => {
        if (viewer === "stranger") return "hidden";
        if (!viewers.includes(viewer) || Number(known) < Number(cursor)) return "unknown";
        return { text: `${known}-${state}`, cursor: String(state), hasNews: Number(known) !== state, ended: false };
      },
    });
  };
  return { seen, look };
}

describe("the places of event streams", () => {
  it("are five for each caller, whatever is followed, and free again at once when left", () => {
    const streams = createStreams();
    const mine = Array.from({ length: MOST_STREAMS.caller }, (_, n) => open(streams, 0, { subject: `run:${n}` }));
    expect(codeOf(() => open(streams, 0))).toBe("too_many_streams");
    expect(codeOf(() => open(streams, 0, { caller: "b" }))).toBeNull();
    mine[2]?.close();
    mine[2]?.close();
    expect([codeOf(() => open(streams, 0)), codeOf(() => open(streams, 0))]).toEqual([null, "too_many_streams"]);
  });

  it("are a thousand in all", () => {
    const streams = createStreams();
    const all = Array.from({ length: MOST_STREAMS.all }, (_, n) => open(streams, 0, { caller: `${n % 250}` }));
    expect(codeOf(() => open(streams, 0, { caller: "one more" }))).toBe("streams_full");
    all[0]?.close();
    expect(codeOf(() => open(streams, 0, { caller: "one more" }))).toBeNull();
  });

  it("are given up by streams that are not heard of, which may come back while there is room", () => {
    const streams = createStreams();
    const dead = Array.from({ length: 5 }, () => open(streams, 0));
    const alive = open(streams, 0, { caller: "b" });
    for (let now = 5000; now <= 20_000; now += 5000) expect(alive.hold(now)).toBe(true);
    expect(codeOf(() => open(streams, 20_000))).toBe("too_many_streams");
    const next = Array.from({ length: 4 }, () => open(streams, 20_001));
    expect(dead.map((stream) => stream.hold(20_002))).toEqual([true, false, false, false, false]);
    next[0]?.close();
    expect(dead[1]?.hold(20_003)).toBe(true);
    expect(alive.hold(40_000)).toBe(true);
  });
});

describe("what streams have still to read", () => {
  const MEGA = 1024 * 1024;
  const megabyte = "é".repeat(MEGA);

  it("comes in pieces, whole", async () => {
    const stream = open(createStreams(), 0);
    // A character of two halves lies on the end of each piece.
    const text = `a${"🜁".repeat(150_000)}`;
    await stream.first("0", finds(text));
    const pieces: string[] = [];
    for (let piece = stream.read(0); piece !== null && piece !== ""; piece = stream.read(0)) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join("")).toBe(text);
  });

  it("is 16 Mi characters at most in all: more streams are refused until some is read, or its reader is gone", async () => {
    const streams = createStreams();
    const entered = async (n: number, at = 0) => {
      const stream = open(streams, at, { caller: `${n}`, subject: `session:${n}` });
      const code = await stream.first("0", finds(megabyte)).then(
        () => null,
        (error: { code: string }) => error.code,
      );
      if (code !== null) stream.close();
      return { stream, code };
    };
    const waiting = await Promise.all(Array.from({ length: 16 }, (_, n) => entered(n)));
    expect(waiting.map(({ code }) => code)).toEqual(waiting.map(() => null));
    expect((await entered(16)).code).toBe("streams_full");
    expect(readAll(waiting[0]?.stream)).toHaveLength(MEGA);
    expect((await entered(17)).code).toBeNull();
    expect((await entered(18)).code).toBe("streams_full");
    for (const { stream } of waiting.slice(2)) stream.hold(15_000);
    // The second and the eighteenth have not been heard of for too long, and what they had to read is gone with their places.
    expect([(await entered(19, 25_000)).code, (await entered(20, 25_000)).code]).toEqual([null, null]);
    expect((await entered(21, 25_000)).code).toBe("streams_full");
    expect([waiting[1]?.stream.read(25_000), waiting[1]?.stream.hold(25_000)]).toEqual([null, true]);
    expect(readAll(waiting[2]?.stream)).toHaveLength(MEGA);
  });

  it("is nothing for a stream whose place was given up while it looked", async () => {
    const streams = createStreams();
    const lost = Array.from({ length: 40 }, (_, n) => open(streams, 0, { caller: `${n}` }));
    for (const stream of lost) {
      const looking = stream.first("0", finds(megabyte));
      stream.close();
      await looking;
    }
    expect(lost.map((stream) => stream.read(0))).toEqual(lost.map(() => null));
    const next = open(streams, 0);
    await next.first("0", finds(megabyte));
    expect(readAll(next)).toHaveLength(MEGA);
  });

  it("counts once for all whom one look has told", async () => {
    const streams = createStreams();
    const all = Array.from({ length: 40 }, (_, n) => open(streams, 0, { caller: `${n}` }));
    for (const stream of all) await stream.first("0", finds(""));
    const look = finds(megabyte);
    for (const stream of all) await stream.next("0", () => 1000, look);
    expect(all.map((stream) => readAll(stream).length)).toEqual(all.map(() => MEGA));
  });
});

describe("looks at one subject", () => {
  it("are made by one stream and update all, each from where it stands", async () => {
    const streams = createStreams();
    const { seen, look } = watched();
    const [one, two, late] = ["v1", "v2", "v3"].map((viewer) => open(streams, 0, { viewer, caller: viewer }));
    for (const stream of [one, two, late]) await stream?.first("0", look);
    expect([one?.wait(0), two?.wait(400), one?.wait(1000)]).toEqual([1000, 600, 0]);
    seen.state = 7;
    await one?.next("0", () => 1000, look);
    expect(readAll(one)).toBe("0-7");
    expect(seen.viewers.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(["v1", "v2", "v3"]);
    expect([one?.wait(1000), two?.wait(1000)]).toEqual([1000, 0]);
    expect(await two?.next("0", () => 1000, look)).toMatchObject({ cursor: "7" });
    expect(readAll(two)).toBe("0-7");
    expect(two?.wait(1000)).toBe(1000);
    expect(seen.looks).toBe(4);
    seen.state = 9;
    await two?.next("7", () => 2000, look);
    expect(readAll(two)).toBe("7-9");
    // The third did not read for a while, and the look that is at hand does not reach back so far: it looks by itself.
    await late?.next("0", () => 2000, look);
    expect(readAll(late)).toBe("0-9");
    expect(seen.looks).toBe(6);
  });

  it("never update a stream whose own was later, or under way meanwhile", async () => {
    const streams = createStreams();
    const { seen, look } = watched();
    const leader = open(streams, 0, { caller: "x" });
    await leader.first("0", look);
    let done: (() => void) | undefined;
    const slow: Look = async (viewers, cursor) => {
      const found = await look(viewers, cursor);
      await new Promise<void>((resolve) => (done = resolve));
      return found;
    };
    const looking = leader.next("0", () => 1000, slow);
    await Promise.resolve();
    seen.state = 3;
    const joined = open(streams, 1000, { caller: "y" });
    expect(await joined.first("0", look)).toMatchObject({ cursor: "3" });
    done?.();
    expect(await looking).toMatchObject({ cursor: "0" });
    expect(joined.wait(1000)).toBeGreaterThan(0);
  });

  it("come ever more seldom while nothing happens, up to 15 seconds, and soon again after something did", async () => {
    const streams = createStreams();
    const { seen, look } = watched();
    const stream = open(streams, 0);
    await stream.first("0", look);
    const waits: number[] = [];
    for (let now = 0, cursor = "0"; waits.length < 12; ) {
      waits.push(stream.wait(now));
      now += stream.wait(now);
      if (waits.length === 10) seen.state = 1;
      const update = await stream.next(cursor, () => now, look);
      if (update !== "hidden") cursor = update.cursor;
    }
    expect(waits).toEqual([1000, 1500, 2250, 3375, 5063, 7595, 11_393, 15_000, 15_000, 15_000, 1000, 1500]);
  });

  it("are taken over where the one under way is never heard of again, and by one at a time", async () => {
    const streams = createStreams();
    const { seen, look } = watched();
    const [gone, one, two] = ["x", "y", "z"].map((caller) => open(streams, 0, { caller }));
    for (const stream of [gone, one, two]) await stream?.first("0", look);
    void gone?.next(
      "0",
      () => 1000,
      () => new Promise(() => undefined),
    );
    expect([one?.wait(1000), two?.wait(2900)]).toEqual([100, 100]);
    expect(one?.wait(3000)).toBe(0);
    seen.state = 1;
    const taken = one?.next("0", () => 3000, look);
    expect(two?.wait(3000)).toBe(100);
    await taken;
    expect(readAll(one)).toBe("0-1");
    await two?.next("0", () => 3000, look);
    expect(readAll(two)).toBe("0-1");
    expect(seen.looks).toBe(4);
  });

  it("fail for one stream, and the others do not run into it at once", async () => {
    const streams = createStreams();
    const { look } = watched();
    const [one, two] = ["x", "y"].map((caller) => open(streams, 0, { caller }));
    for (const stream of [one, two]) await stream?.first("0", look);
    await expect(
      one?.next(
        "0",
        () => 1000,
        () => Promise.reject(new Error("down")),
      ),
    ).rejects.toThrow("down");
    expect(two?.wait(1000)).toBe(1500);
  });

  it("judge each viewer, and ask for those alone who are there", async () => {
    const streams = createStreams();
    const { seen, look } = watched();
    const [friend, stranger] = ["friend", "stranger"].map((viewer) => open(streams, 0, { viewer, caller: viewer }));
    await friend?.first("0", look);
    expect(await stranger?.first("0", look)).toBe("hidden");
    await friend?.next("0", () => 1000, look);
    expect(await stranger?.next("0", () => 1000, look)).toBe("hidden");
    stranger?.close();
    await friend?.next("0", () => 3000, look);
    expect(seen.viewers).toEqual(["friend"]);
  });
});
