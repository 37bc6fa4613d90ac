import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ConnectionTestResult } from "../../shared/runs/connection-shown.ts";
import { ConnectionTest, testConnection } from "../../shared/runs/test-connection.ts";

export const integrations = [
  route({
    id: "testConnection",
    method: "post",
    path: "/api/v1/integrations/test-connection",
    tag: "Agents",
    summary: "Try an endpoint before it is registered",
    description:
      "Sends one signed request with a tiny task, as a run does, and waits up to 10 seconds for up to 1 MiB. An " +
      "endpoint that may not be called is 422. Any outcome of the call itself is 200; if the call failed, `ok` is " +
      "false and `failure_code` is the one that a run would have. If our own DNS resolver fails, nothing is sent and " +
      "the answer is 503 `dependency_unavailable`, which says nothing about the endpoint. Nothing is stored.",
    auth: "write",
    subject: "agents",
    body: ConnectionTest,
    returns: { 200: ConnectionTestResult },
    problems: ["endpoint_not_allowed"],
    async handler({ ctx, body }) {
      return ok(await testConnection(ctx, body));
    },
  }),
];
