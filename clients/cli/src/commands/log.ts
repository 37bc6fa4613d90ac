import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { follow, LogFault } from "../log-follow.ts";
import { waitingOn } from "../progress.ts";
import { urlOf } from "../settings.ts";
import { note, print } from "../terminal.ts";

/** `log monitor`: what came to the log since the last call, checked to continue what was seen then. */
export const log = command({
  usage: "log monitor [--state FILE] [--url URL]",
  about:
    "Follows the log of all that was signed: checks that it continues what was seen before, prints each new entry, and keeps\n" +
    "what it has seen in a file. The first call takes the log's key from the log, later ones hold it to that key.\n" +
    "Exit code 1: the log is not what it was.",
  options: {
    url: SERVICE.url,
    state: { type: "string", value: "FILE", about: "where to keep what was seen (log-monitor.json)" },
  },
  most: 1,
  async run(values, [action], terminal) {
    if (action !== "monitor") throw new Failure(EXIT.usage, "The log can be followed: log monitor.");
    try {
      const file = values.state ?? "log-monitor.json";
      const { origin, size, entries } = await follow(urlOf(values.url, terminal), file, { sleep: waitingOn(terminal) });
      if (entries.length > 0) print(terminal, ...entries);
      note(terminal, `${origin}: ${size} entries, consistent`);
      return EXIT.fine;
    } catch (error) {
      if (error instanceof LogFault) throw new Failure(EXIT.failed, error.message);
      throw error;
    }
  },
});
