import { loadSigningKeys, type SigningKeys } from "../../../shared/platform/keys.ts";
import { signaturesDirectory, signRequest } from "../../../shared/platform/outbound/signature.ts";
import { json, listen, type Reply, type Request } from "../../stack/http.ts";
import type { AgentRequest } from "../../agents/protocol.ts";

/** The service's keys: that of RFC 8037 appendix A. */
export const keys: SigningKeys = await loadSigningKeys(
  '{"keys":[{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}',
);

/** The service as an agent sees it: its keys, and a place to report to. It lives as long as its scope. */
export interface FakeService extends AsyncDisposable {
  url: string;
  /** The requests to anything but the keys, oldest first. */
  reports: Request[];
}

/** Starts it; `answer` writes the answer to each report. */
export async function startService(answer: (reports: number) => Reply = () => json(200, {})): Promise<FakeService> {
  const reports: Request[] = [];
  const server = await listen((request) => {
    if (request.url.pathname === "/.well-known/http-message-signatures-directory") {
      return json(200, signaturesDirectory(keys));
    }
    reports.push(request);
    return answer(reports.length);
  });
  return { url: server.url, reports, [Symbol.asyncDispose]: () => server.close() };
}

/** A request for a run, as the service sends it. */
export function requestFor(runId: string, service: string): AgentRequest {
  return {
    protocol: "2026-11",
    run_id: runId,
    task: {
      domain: "math",
      prompt: "What is the mean age of both teams together, rounded to one decimal place?",
      input: {
        teams: [
          { players: 1, mean_age: 20 },
          { players: 3, mean_age: 40 },
        ],
      },
      output_format: "text",
    },
    deadline: new Date(Date.now() + 60_000).toISOString(),
    callback: { method: "PATCH", url: `${service}/api/v1/runs/${runId}`, token: `run_${runId}` },
  };
}

/** Sends `body` to an agent without a signature. */
export function call(agent: string, body: unknown): Promise<Response> {
  return fetch(agent, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** The headers and the body of a call to `url` that the service has signed at `now`. */
export async function signed(url: string, body: unknown, now: Date, signingKeys = keys) {
  const request = { method: "POST", url, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const signature = await signRequest(request, signingKeys.active, { now, agentUrl: "https://screening.example" });
  return { method: "POST", headers: { ...request.headers, ...signature }, body: request.body };
}
