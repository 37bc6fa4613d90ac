import * as z from "zod";
import { findLoggedCredential } from "../../shared/certification/logged-credential.ts";
import { readStatusList } from "../../shared/certification/status-list.ts";
import { STATUS_LIST_TTL_S } from "../../shared/evidence/status-list.ts";
import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { PROOF_TYPE, signedStatement, STATEMENT_TYPE, statementQuery, statementReply } from "../runs/statement.ts";

const tag = "Certification";

const AgentCredential = signedStatement.meta({ id: "AgentCredential" });

export const credential = [
  route({
    id: "readAgentCredential",
    method: "get",
    path: "/api/v1/agents/{agent_id}/credential",
    tag,
    summary: "The credential of a certified agent",
    description:
      "A W3C Verifiable Credential 2.0; with `Accept: application/vc+jwt` the compact JWS alone. It is valid until " +
      "its `validUntil`, unless the status list that it names says that it is revoked. 404 if no certification is in " +
      "force. With `format=tlog-proof`, or `Accept: application/vnd.c2sp.tlog-proof`, the proof that the log has it, as of a " +
      "run's statement; `kind` of its entry is `credential`.",
    auth: "open",
    subject: "agents",
    params: z.object({ agent_id: z.uuid() }),
    query: statementQuery,
    returns: { 200: AgentCredential },
    mediaTypes: [STATEMENT_TYPE, PROOF_TYPE],
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id }, query, c }) {
      const found = await findLoggedCredential(ctx, principal, agent_id);
      if (found === null) throw notFound("credential of this agent");
      return statementReply(ctx, c, found, query);
    },
  }),
  route({
    id: "readCredentialStatusList",
    method: "get",
    path: "/api/v1/credentials/status/{list}",
    tag,
    summary: "Which credentials are revoked",
    description:
      "A BitstringStatusListCredential (W3C Bitstring Status List v1.0), signed as the credentials are. The bit at a " +
      "credential's `statusListIndex` is set once it is revoked. Valid for a day; ask again after its `ttl`.",
    auth: "open",
    params: z.object({
      list: z
        .string()
        .regex(/^(?:0|[1-9]\d{0,8})$/, "Give the number of the list, as credentials name it.")
        .meta({ description: "The number of the list, from 0", examples: ["0"] }),
    }),
    returns: { 200: { type: STATEMENT_TYPE, description: "The list as a compact JWS" } },
    problems: ["not_found"],
    cache: "board",
    async handler({ ctx, params: { list } }) {
      const jws = await readStatusList(ctx, Number(list));
      return verbatim(jws, STATEMENT_TYPE, { "Cache-Control": `public, max-age=${STATUS_LIST_TTL_S}` });
    },
  }),
];
