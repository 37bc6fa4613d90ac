import * as z from "zod";
import { line } from "../../platform/line.ts";
import { Instant } from "../../platform/time.ts";

const userCode = z.string().trim().min(1).max(40).meta({
  description: "The code that the program shows; case, spaces and hyphens don't matter",
  example: "WDJB-MJHT",
});

export const DeviceRequest = z
  .strictObject({
    client_name: line(100).meta({
      description: "What the program runs on: whoever decides reads it, and the key is named by it",
    }),
  })
  .meta({ id: "DeviceRequest" });

export const DeviceCodes = z
  .object({
    device_code: z.string().meta({ description: "What the program asks for its key with, a secret" }),
    user_code: z.string().meta({ description: "What is typed on the page: eight consonants", example: "WDJB-MJHT" }),
    verification_uri: z.string().meta({ description: "The page where the code is typed" }),
    verification_uri_complete: z.string().meta({ description: "The same page with the code filled in" }),
    expires_in: z.int().meta({ description: "How long both codes hold, in seconds" }),
    interval: z.int().meta({ description: "How many seconds have to lie between two requests for the key" }),
  })
  .meta({ id: "DeviceCodes" });

export const DeviceQuery = z.object({ user_code: userCode });

export const DeviceAsking = z
  .object({
    user_code: z.string().meta({ description: "The code as the program shows it", example: "WDJB-MJHT" }),
    client_name: z.string().meta({ description: "What the program says that it runs on; nobody has checked it" }),
    user_agent: z.string().nullable(),
    same_network: z.boolean().meta({ description: "Whether it asks from the network that the caller is in" }),
    created_at: Instant,
    expires_at: Instant,
  })
  .meta({ id: "DeviceAsking" });

export const DeviceDecision = z
  .strictObject({
    user_code: userCode,
    allow: z.boolean().meta({ description: "Whether the program gets a key of the account" }),
  })
  .meta({ id: "DeviceDecision" });

export const DeviceTokenRequest = z
  .strictObject({ device_code: z.string().min(1).max(200).meta({ description: "The program's own code" }) })
  .meta({ id: "DeviceTokenRequest" });
