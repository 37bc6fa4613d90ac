import * as z from "zod";

/** What of a declared configuration may be shown; what is of another type counts as not declared. */
export const DisplayedConfiguration = z.object({
  model: z.string().max(200).optional(),
  framework: z.string().max(200).optional(),
  version: z.string().max(200).optional(),
  temperature: z.number().optional(),
  max_steps: z.int().optional(),
});

export const DeclaredConfigurationRead = z
  .object({
    agent_id: z.uuid(),
    declared: DisplayedConfiguration,
    self_declared: z.literal(true).meta({ description: "The service neither applies nor checks it" }),
  })
  .meta({ id: "DeclaredConfigurationRead" });
