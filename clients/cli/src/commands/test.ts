import { given } from "../../../typescript/src/problem.ts";
import { AUTH_HEADER, authHeaderOf } from "../auth-header.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { connectSignedIn } from "../settings.ts";
import { colored, plain, print } from "../terminal.ts";

const PROTOCOLS = ["native", "openai_chat", "a2a", "a2a_1"] as const;

/** The protocol of that name, undefined without a name. @throws Failure for any other name. */
export function protocolOf(name: string | undefined): (typeof PROTOCOLS)[number] | undefined {
  const found = PROTOCOLS.find((one) => one === name);
  if (name !== undefined && found === undefined) {
    throw new Failure(EXIT.usage, `--protocol is one of ${PROTOCOLS.join(", ")}.`);
  }
  return found;
}

/** `test`: one signed request with a tiny task. */
export const test = command({
  usage: "test URL",
  about: "Calls an endpoint once, as a run does, and tells what came of it; nothing is kept. Exit code 1: it failed.",
  options: {
    ...SERVICE,
    protocol: {
      type: "string",
      value: "NAME",
      about: "native (default), openai_chat, a2a (0.2 and 0.3) or a2a_1 (1.0)",
    },
    ...AUTH_HEADER,
  },
  most: 1,
  async run(values, [endpoint], terminal) {
    if (endpoint === undefined) throw new Failure(EXIT.usage, "Give the URL of one endpoint.");
    const agent_protocol = protocolOf(values.protocol);
    const { client } = connectSignedIn(values, terminal);
    const auth_header = await authHeaderOf(values["auth-header"], terminal);
    const body = {
      endpoint,
      ...(agent_protocol === undefined ? {} : { agent_protocol }),
      ...(auth_header === undefined ? {} : { auth_header }),
    };
    const result = await given(client.POST("/api/v1/integrations/test-connection", { body }));
    if (values.json === true) print(terminal, JSON.stringify(result));
    else {
      const { ok, status_code, latency_ms, failure_code, detail } = result;
      const mark = ok ? colored(terminal, "green", "ok") : colored(terminal, "red", failure_code ?? "failed");
      print(terminal, `${mark}  ${plain(detail)}`, `status ${status_code ?? "none"}, ${latency_ms} ms`);
    }
    return result.ok ? EXIT.fine : EXIT.failed;
  },
});
