import * as z from "zod";
import { readField, SuiteField } from "../../shared/board/field.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

export const field = [
  route({
    id: "readSuiteField",
    method: "get",
    path: "/api/v1/suites/{id}/field",
    tag: "Board",
    summary: "How the field does at each task of a suite",
    description:
      "The field are the first twenty ranked agents of the public board. Their scored real runs count, as on the board: " +
      "the last ten of each task at its current suite version.",
    auth: "open",
    params: z.object({ id: z.uuid() }),
    returns: { 200: SuiteField },
    problems: ["not_found"],
    cache: "board",
    async handler({ ctx, params: { id } }) {
      return ok(await readField(ctx, id));
    },
  }),
];
