/**
 * `npm run log:monitor -- BASE_URL [STATE_FILE]`: what `agent-screening log monitor` does, without a package. Prints each
 * entry that came since the last call, and ends with 1 where the log is not what it was, or says nothing, and with 2 where
 * the file is of another log, damaged, or can't be written.
 */
import { EXIT, Failure } from "../../clients/cli/src/failure.ts";
import { isAddress } from "./address.ts";
import { follow } from "../../clients/cli/src/log-follow.ts";

const [base, file = "log-monitor.json"] = process.argv.slice(2);
if (base === undefined || !isAddress(base)) {
  console.error("Give the service's address: npm run log:monitor -- https://SERVICE [STATE_FILE]");
  process.exitCode = 2;
} else {
  try {
    const { origin, size, entries } = await follow(base, file);
    for (const line of entries) console.log(line);
    console.error(`${origin}: ${size} entries, consistent`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof Failure && error.exit === EXIT.usage ? EXIT.usage : EXIT.failed;
  }
}
