import { existsSync, writeFileSync } from "node:fs";
import go from "../../templates/agent.go.txt";
import python from "../../templates/agent.py.txt";
import typescript from "../../templates/agent.ts.txt";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { urlOf } from "../settings.ts";
import { print } from "../terminal.ts";

const LANGUAGES = {
  typescript: { file: "agent.ts", source: typescript, start: "node agent.ts", needs: "Node 22.18 or newer" },
  python: { file: "agent.py", source: python, start: "python3 agent.py", needs: "Python 3.9 or newer" },
  go: { file: "agent.go", source: go, start: "go run agent.go", needs: "Go 1.21 or newer" },
} as const;
/** Where an agent is started on this machine, and an example of where it is reached from elsewhere. */
const [HERE, ELSEWHERE] = ["http://127.0.0.1:9001/", "https://agent.example.com/"];
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
const UNCHECKED =
  "Calls are checked by their signature where the package cryptography is installed: pip install cryptography.";

/** `init`: writes an agent to start from. */
export const init = command({
  usage: "init typescript|python|go [--url URL]",
  about: "Writes an agent to start from, one file without packages: it checks who calls, answers, and sends spans.",
  options: {
    url: SERVICE.url,
    force: { type: "boolean", about: "write over a file that is there" },
  },
  most: 1,
  async run(values, [language], terminal) {
    const known = Object.entries(LANGUAGES).find(([name]) => name === language);
    if (known === undefined) {
      throw new Failure(EXIT.usage, `Name a language: ${Object.keys(LANGUAGES).join(", ")}.`);
    }
    const [, { file, source, start, needs }] = known;
    if (existsSync(file) && values.force !== true) {
      throw new Failure(EXIT.usage, `${file} is here already; --force writes over it.`);
    }
    const service = urlOf(values.url, terminal);
    writeFileSync(file, source.replace("{{SERVICE_URL}}", service));
    const isHere = LOOPBACK.has(new URL(service).hostname);
    print(
      terminal,
      isHere
        ? `Wrote ${file}. Start it (${needs}), then screen it:`
        : `Wrote ${file}. ${service} calls https alone: give it an address at a host or by a tunnel, start it (${needs}), then screen it:`,
      "",
      isHere ? `  ${start}` : `  PUBLIC_URL=${ELSEWHERE} ${start}`,
      `  agent-screening screen ${isHere ? HERE : ELSEWHERE} --repeats 3 --wait`,
      "",
      ...(file === "agent.py" ? [UNCHECKED] : []),
      "Put your model into `work`. PORT and BIND_ADDRESS (0.0.0.0 in a container or at a host) say where it listens,",
      "PUBLIC_URL at which address it is registered, and SERVICE_URL whose calls it takes.",
    );
    return EXIT.fine;
  },
});
