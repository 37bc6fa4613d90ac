import * as z from "zod";
import { EVENT_TYPES } from "./event.ts";

const url = z.string().max(2048).meta({
  description:
    "The https URL that gets the events, on port 443 or 8443 of a public name; judged again at every attempt",
});

const eventTypes = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(EVENT_TYPES.length)
  .refine((types) => new Set(types).size === types.length, {
    message: "Name each event type once.",
    params: { code: "not_unique" },
  })
  // Each once says how many there can be; the limit spares looking at half a million of them.
  .meta({ maxItems: undefined });
const secret = z
  .string()
  .regex(/^[\x21-\x7e]{16,256}$/, "A secret is 16 to 256 visible ASCII characters.")
  .meta({ description: "16 to 256 visible ASCII characters that key the signatures; never shown again" });
const description = z.string().trim().max(500);

export const WebhookCreate = z
  .strictObject({
    url,
    event_types: eventTypes,
    secret: secret.optional().meta({ description: "Without one, deliveries are unsigned" }),
    description: description.optional(),
    agent_id: z.uuid().optional().meta({
      description:
        "Events of this agent alone, and its account's or workspace's used-up allowance; without it, of all personal agents of the account",
    }),
    is_active: z.boolean().default(true),
  })
  .meta({ id: "WebhookCreate" });

export const WebhookUpdate = z
  .strictObject({
    url: url.optional(),
    event_types: eventTypes.optional(),
    secret: secret.nullable().optional().meta({ description: "Null ends the signing" }),
    description: description.nullable().optional(),
    is_active: z.boolean().optional().meta({
      description: "True turns it on again, also after the service turned it off, and forgets past failures",
    }),
  })
  .meta({ id: "WebhookUpdate" });

export const WebhookSecretRotate = z
  .strictObject({ secret: secret.optional().meta({ description: "The new secret; one is made where none is given" }) })
  .meta({ id: "WebhookSecretRotate" });
