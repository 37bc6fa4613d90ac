import * as z from "zod";
import { readDeclared } from "../../shared/agents/declared.ts";
import { DeclaredConfigurationRead } from "../../shared/agents/configuration-shown.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

export const playbooks = [
  route({
    id: "readDeclaredConfiguration",
    method: "get",
    path: "/api/v1/playbooks/declared-configurations",
    tag: "Playbooks",
    summary: "What an agent's owner declares about it",
    description:
      "For the owner and the editors of its workspace. Only these fields of `declared_configuration` are shown, each " +
      "only if it has the right type; texts of up to 200 characters. The configuration is neither applied nor " +
      "checked.",
    auth: "read",
    subject: "agents",
    query: z.object({ agent_id: z.uuid() }),
    returns: { 200: DeclaredConfigurationRead },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, query: { agent_id } }) {
      return ok(await readDeclared(ctx, principal, agent_id));
    },
  }),
];
