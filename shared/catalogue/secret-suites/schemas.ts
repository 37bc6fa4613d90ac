import * as z from "zod";

export const SecretSuiteDiagnostic = z
  .object({
    enabled: z.boolean().meta({ description: "Whether secret suites are switched on, and can be rotated" }),
    suites: z
      .array(
        z.object({
          suite_id: z.uuid(),
          name: z.string(),
          suite_version: z.int(),
          active_tasks: z.int(),
          retired_tasks: z.int().meta({ description: "Those of earlier versions, and those retired by hand" }),
        }),
      )
      .meta({ description: "All secret suites, oldest first" }),
  })
  .meta({ id: "SecretSuiteDiagnostic" });

export const SecretSuiteRotateRequest = z
  .strictObject({ suite_id: z.uuid().meta({ description: "Any suite, secret or not" }) })
  .meta({ id: "SecretSuiteRotateRequest" });

export const SecretSuiteRotateResult = z
  .object({
    suite_id: z.uuid(),
    previous_version: z.int(),
    suite_version: z.int(),
    tasks_rotated: z.int().meta({ description: "Active tasks that are now of the new version" }),
  })
  .meta({ id: "SecretSuiteRotateResult" });
