/**
 * Runs the Worker in workerd on behalf of another process, over its IPC channel. When that process is gone, however it
 * went, the channel closes, and workerd is stopped: nothing stays behind that holds the port.
 */
import { dirname } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { COMPATIBILITY } from "./deployment.ts";
import { meteredModulesOf } from "./metering.ts";

/** What the parent asks for, and what it is told. */
export type Order =
  | { kind: "start"; bundle: string; settings: Record<string, string>; port: number; subrequests: number }
  | { kind: "scheduled"; id: number; cron: string };
export type News =
  | { kind: "ready" }
  | { kind: "failed"; message: string }
  | { kind: "done"; id: number; error?: string }
  | { kind: "log"; level: string; text: string };

const { INSPECTOR_PORT } = process.env;

let miniflare: Miniflare | undefined;

function tell(news: News): void {
  process.send?.(news);
}

async function start({ bundle, settings, port, subrequests }: Extract<Order, { kind: "start" }>): Promise<void> {
  const options = convertV4MiniflareOptions({
    name: "service",
    modules: await meteredModulesOf(bundle, subrequests),
    modulesRoot: dirname(bundle),
    compatibilityDate: COMPATIBILITY.date,
    compatibilityFlags: COMPATIBILITY.flags,
    bindings: settings,
    host: "127.0.0.1",
    port,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    // Where the Worker's heap can be looked into, if somebody wants to.
    ...(INSPECTOR_PORT === undefined ? {} : { inspectorPort: Number(INSPECTOR_PORT) }),
    stripCfConnectingIp: false,
    handleStructuredLogs({ level, message }) {
      console.log(message);
      tell({ kind: "log", level, text: message });
    },
  });
  miniflare = new Miniflare(options);
  await miniflare.ready;
}

async function carryOut(order: Order): Promise<void> {
  if (order.kind === "start") {
    await start(order).then(
      () => tell({ kind: "ready" }),
      (error: unknown) => tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
    return;
  }
  try {
    const worker = await miniflare?.getWorker();
    await worker?.scheduled({ cron: order.cron });
    tell({ kind: "done", id: order.id });
  } catch (error) {
    tell({ kind: "done", id: order.id, error: String(error) });
  }
}

process.on("message", (order: Order) => void carryOut(order));
// Ctrl-C reaches the whole group; the parent stops its parts in order.
process.on("SIGINT", () => undefined);
process.on("disconnect", () => {
  void (miniflare?.dispose() ?? Promise.resolve()).finally(() => process.exit(0));
});
