import autocannon from "autocannon";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { build } from "esbuild";
import { median } from "./measure.ts";

const SECONDS = 3;
const ROUNDS = 3;
const ADDRESSES = 4000;

/** Requests a second of the board's first page, over those of a bare Hono hello-world on the same runtime. */
export async function throughputAgainstHello(url: string): Promise<number> {
  const hello = await startHello();
  try {
    const ratios: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const base = await rate(`${hello.url}/`);
      const subject = await rate(`${url}/api/v1/leaderboard`);
      if (round > 0) ratios.push(subject / base);
    }
    return median(ratios);
  } finally {
    await hello.stop();
  }
}

async function rate(url: string): Promise<number> {
  const requests = Array.from({ length: ADDRESSES }, (_, n) => ({
    method: "GET" as const,
    headers: { "cf-connecting-ip": `10.${100 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}` },
  }));
  const { requests: counted, non2xx } = await autocannon({ url, connections: 16, duration: SECONDS, requests });
  if (non2xx > 0) throw new Error(`${non2xx} answers of ${url} were no success`);
  return counted.average;
}

async function startHello(): Promise<{ url: string; stop(): Promise<void> }> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { Hono } from "hono"; export default new Hono().get("/", (c) => c.text("hello world"));`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
  });
  const options = convertV4MiniflareOptions({
    name: "hello",
    script: outputFiles[0]?.text ?? "",
    modules: true,
    compatibilityDate: "2026-11-01",
    host: "127.0.0.1",
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
  });
  const miniflare = new Miniflare(options);
  const url = await miniflare.ready;
  return { url: url.origin, stop: () => miniflare.dispose() };
}
