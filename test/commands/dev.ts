/** `npm run dev`: the whole service on this machine, until Ctrl-C. */
import { fileURLToPath } from "node:url";
import { type Stack, startStack } from "../stack/stack.ts";

const { PORT, CONSOLE_PORT, STACK_DIR } = process.env;
const started = Date.now();
let stack: Stack | undefined;
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // To exit ends what was started up to here, as to be killed would not.
    if (stack === undefined) process.exit(0);
    if (stopping) return;
    stopping = true;
    void stack.stop().then(() => process.exit(0));
  });
}
stack = await startStack({
  dir: STACK_DIR ?? fileURLToPath(new URL("../../.local", import.meta.url)),
  port: PORT === undefined ? undefined : Number(PORT),
  consolePort: CONSOLE_PORT === undefined ? undefined : Number(CONSOLE_PORT),
  fresh: process.argv.includes("--fresh"),
  progress: (step) => console.log(`starting ${step} …`),
});
console.log(`
Ready after ${((Date.now() - started) / 1000).toFixed(1)} s.

  the service   ${stack.url}
  the console   ${stack.consoleUrl}   mail, queue, log, counters, faults
  description   ${stack.url}/openapi.json
  the database  ${stack.databaseUrl}
                behind the driver's front ${stack.settings["NEON_LOCAL_PROXY"]}
  the queue     ${stack.settings["QSTASH_URL"]}

Ctrl-C stops everything.`);
