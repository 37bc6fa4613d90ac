import * as z from "zod";
import { AgentCreate } from "../agents/schemas.ts";

export const RegistryUrl = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .meta({ description: "Any URL of the host that serves the manifest; its path is no matter" }),
  })
  .meta({ id: "RegistryUrl" });

/** What is wrong with a manifest. */
export interface ManifestError {
  /** RFC 6901, into the manifest; empty for the manifest as a whole. */
  pointer: string;
  code: "not_fetched" | "not_json" | "invalid_field" | "endpoint_not_allowed" | "foreign_domain";
  message: string;
}

/** A manifest as it is registered: what an agent is made of. Members beside these are the owner's own business. */
export const Manifest = z
  .object({
    ...AgentCreate.pick({
      name: true,
      description: true,
      agent_protocol: true,
      provider_url: true,
      declared_configuration: true,
    }).shape,
    endpoint: AgentCreate.shape.endpoint.unwrap(),
    version: z.string().max(200).optional(),
  })
  .meta({ id: "AgentManifest" });

export const Discovery = z
  .object({
    url: z.string(),
    manifest_url: z.string(),
    kind: z.enum(["native", "a2a"]),
    valid: z.boolean().meta({ description: "Whether it can be registered" }),
    errors: z.array(
      z.object({
        pointer: z.string().meta({ description: "RFC 6901 JSON pointer into the manifest" }),
        code: z.string(),
        message: z.string().meta({ description: "What to mend" }),
      }),
    ),
    manifest: Manifest.nullable().meta({
      description: "What an agent would be made of, an A2A agent card in the native form; null unless valid",
    }),
  })
  .meta({ id: "RegistryDiscovery" });
