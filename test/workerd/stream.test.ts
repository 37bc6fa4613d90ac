import { describe, expect, it } from "vitest";
import { streamed } from "../../shared/http/stream.ts";
import { createStreams, type Look } from "../../shared/platform/streams.ts";
import { type EventStream, follow, pause, type Sleep } from "../../shared/results/follow.ts";

const silent = {
  log: { error: () => undefined, warn: () => undefined, info: () => undefined, with: () => silent.log },
};

/** A stream of events that never ends, and how often it looked. */
async function endless(): Promise<{ produce: EventStream; looks: () => number }> {
  let looks = 0;
  const look: Look = () => {
    looks += 1;
    const update = { text: "event: tick\n\n", cursor: String(looks), hasNews: true, ended: false };
    return Promise.resolve({ updateFor: () => update });
  };
  const began = Date.now();
  // A second is over as soon as somebody waits for it.
  let ahead = 0;
  const now = () => new Date(began + ahead);
  const sleep: Sleep = (ms, signal) => {
    ahead += ms;
    return pause(1, signal);
  };
  const topic = { subject: "run:1", principal: { kind: "anonymous" as const }, look };
  const stream = await follow({ now, streams: createStreams(), addressHash: null }, topic, "0", sleep);
  if (stream === null || stream === "seen") throw new Error("nothing to follow");
  return { produce: stream, looks: () => looks };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("a streamed answer in workerd", () => {
  it("is made as it is read, and not at all while nobody reads", async () => {
    const { produce, looks } = await endless();
    const { body } = new Response(streamed(silent, produce));
    await turn();
    expect(looks()).toBe(1);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    for (let read = 0; read < 5; read += 1) await reader.read();
    await turn();
    expect(looks()).toBe(5);
    await reader.cancel();
  });

  it("ends its work when the connection drops, in the middle of a pause too", async () => {
    const { produce, looks } = await endless();
    let aborted: AbortSignal | undefined;
    const watched: EventStream = (signal) => produce((aborted = signal));
    const reader = streamed(silent, watched).getReader();
    await reader.read();
    const next = reader.read();
    await reader.cancel();
    expect(await next).toMatchObject({ done: true });
    expect(aborted?.aborted).toBe(true);
    const seen = looks();
    await turn();
    expect(looks()).toBe(seen);
  });

  it("breaks off when its work fails", async () => {
    const failing: EventStream = async function* () {
      yield "half";
      await Promise.reject(new Error("gone"));
    };
    const reader = streamed(silent, failing).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("half");
    await expect(reader.read()).rejects.toThrow("gone");
  });
});
