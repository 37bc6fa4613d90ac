/** A receiver of webhooks in a process of its own, so that it takes none of the time of a loop that posts to it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { listen } from "../stack/http.ts";

const Expected = z.int();

/** The receiver, as the bench sees it. */
export interface Receiver {
  url: string;
  /** Has it count from now on; what is returned resolves when so many more posts have come. */
  expect(posts: number): Promise<{ reached: Promise<unknown> }>;
  stop(): void;
}

/** Starts the receiver. */
export async function startReceiver(): Promise<Receiver> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url));
  const [url] = await once(child, "message");
  return {
    url: String(url),
    async expect(posts) {
      const counting = once(child, "message");
      child.send(posts);
      await counting;
      return { reached: once(child, "message") };
    },
    stop: () => void child.kill(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let left = 0;
  const { url } = await listen(() => {
    left -= 1;
    if (left === 0) process.send?.("reached");
    return { status: 204 };
  });
  process.on("message", (posts) => {
    left = Expected.parse(posts);
    process.send?.("counting");
  });
  process.send?.(url);
}
