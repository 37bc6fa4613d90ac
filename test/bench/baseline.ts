import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { WORKERS } from "../stack/limits.ts";
import { COMPATIBILITY } from "../stack/worker/deployment.ts";
import { meteredModulesOf } from "../stack/worker/metering.ts";

/** A bare Worker to measure against: the same runtime, router and driver, and nothing of the service. */
export interface Baseline {
  url: string;
  stop(): Promise<void>;
}

const SOURCE = `
import { Hono } from "hono";
import { neon, neonConfig } from "@neondatabase/serverless";
import { insertSpans } from "./test/bench/otlp-raw.ts";
const app = new Hono();
app.get("/hello", (c) => c.text("hello world"));
app.post("/sql", async (c) => {
  neonConfig.fetchEndpoint = () => c.env.NEON_LOCAL_PROXY + "/sql";
  const { text, params } = await c.req.json();
  const [row] = await neon(c.env.DATABASE_URL).query(text, params);
  return c.json(row?.result ?? null);
});
app.post("/spans/:agent", async (c) => {
  neonConfig.fetchEndpoint = () => c.env.NEON_LOCAL_PROXY + "/sql";
  const sql = neon(c.env.DATABASE_URL);
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  await insertSpans(bytes, c.req.param("agent"), (text, params) => sql.query(text, params));
  return c.body(null);
});
export default { fetch: app.fetch };`;

/**
 * Starts the baseline on the database of a stack; `POST /sql {text, params}` answers the column `result`, and
 * `POST /spans/{agent}` inserts an export of spans in protobuf.
 */
export async function startBaseline(settings: Record<string, string>): Promise<Baseline> {
  return startBare("baseline", SOURCE, process.cwd(), settings);
}

/**
 * Starts a Worker from the text of one module, with the packages of a folder, and settings as its bindings. What it sends is
 * metered as the stack meters the service: what that takes of each request is none of the service's own.
 */
export async function startBare(
  name: string,
  contents: string,
  resolveDir: string,
  bindings: Record<string, string | boolean>,
): Promise<Baseline> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const entry = join(folder, "index.js");
  try {
    await build({
      stdin: { contents, resolveDir },
      bundle: true,
      format: "esm",
      minify: true,
      outfile: entry,
      external: ["node:*"],
    });
    const options = convertV4MiniflareOptions({
      name,
      modules: await meteredModulesOf(entry, WORKERS.subrequests.paid),
      modulesRoot: folder,
      compatibilityDate: COMPATIBILITY.date,
      compatibilityFlags: COMPATIBILITY.flags,
      bindings,
      host: "127.0.0.1",
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      // As the service has one: what can be looked into is a little slower.
      inspectorPort: 0,
    });
    const miniflare = new Miniflare(options);
    const { origin } = await miniflare.ready;
    return { url: origin, stop: () => miniflare.dispose() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
