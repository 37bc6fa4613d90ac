import * as z from "zod";
import { readDeclared } from "../../shared/agents/declared.ts";
import { DeclaredConfigurationRead } from "../../shared/agents/schemas.ts";
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
      "For the owner and the editors of its workspace. Of `declared_configuration` only these fields, each only where it " +
      "is of its type; texts up to 200 characters. It is neither applied nor checked.",
    auth: "read",
    query: z.object({ agent_id: z.uuid() }),
    returns: { 200: DeclaredConfigurationRead },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, query: { agent_id } }) {
      return ok(await readDeclared(ctx, principal, agent_id));
    },
  }),
];
