import { diagnoseSecretSuites } from "../../shared/catalogue/secret-suites/diagnostic.ts";
import { rotateSuite } from "../../shared/catalogue/secret-suites/rotate.ts";
import {
  SecretSuiteDiagnostic,
  SecretSuiteRotateRequest,
  SecretSuiteRotateResult,
} from "../../shared/catalogue/secret-suites/schemas.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Catalogue";

export const secretSuites = [
  route({
    id: "diagnoseSecretSuites",
    method: "get",
    path: "/api/v1/tasks/secret-suites/diagnostic",
    tag,
    summary: "Whether secret suites are on, and their counts",
    description:
      "Counts alone: no prompt, input, grader or key of a secret task is shown to anybody, operators included.",
    auth: "admin",
    returns: { 200: SecretSuiteDiagnostic },
    async handler({ ctx }) {
      return ok(await diagnoseSecretSuites(ctx));
    },
  }),
  route({
    id: "rotateSecretSuite",
    method: "post",
    path: "/api/v1/tasks/secret-suites/rotate",
    tag,
    summary: "Give a suite its next version",
    description:
      "Each call is a rotation of its own. In a sealed suite, the tasks that were made from templates are retired " +
      "and replaced by new instances of the same difficulty; runs under way are graded by the task with which they " +
      "began. Every other task, in any suite, stays and counts as new: only its runs at the new version are scored. " +
      "Retired tasks are no longer part of the suite: they keep their last version, and what was scored at it. " +
      "The boards take that in when an agent is next scored at it, at the latest with their nightly recomputation.",
    auth: "admin",
    body: SecretSuiteRotateRequest,
    returns: { 200: SecretSuiteRotateResult },
    problems: ["not_found", "feature_disabled"],
    async handler({ ctx, body }) {
      return ok(await rotateSuite(ctx, body.suite_id));
    },
  }),
];
