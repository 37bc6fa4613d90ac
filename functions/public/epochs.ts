import { listEpochs } from "../../shared/epochs/list.ts";
import { EpochRead } from "../../shared/epochs/shown.ts";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

export const epochs = [
  route({
    id: "listEpochs",
    method: "get",
    path: "/api/v1/epochs",
    tag: "Evidence",
    summary: "The epochs, with their commitments and what was revealed",
    description:
      "Newest first. Each epoch has a random secret, which is made days ahead. The commitment to it is in the log at " +
      "least one epoch before it begins, but for the first two of a deployment, and the secret is published seven days " +
      "after its end. Who has it can check what was drawn from it. An epoch is listed once its commitment is in the log.",
    auth: "open",
    query: pageQuery,
    returns: { 200: pageOf(EpochRead, "EpochPage") },
    async handler({ ctx, query }) {
      return ok(paged(await listEpochs(ctx, query), query));
    },
  }),
];
