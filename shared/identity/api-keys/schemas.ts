import * as z from "zod";
import { Instant } from "../../platform/time.ts";

const name = z.string().trim().min(1).max(120);
const scope = z.enum(["read", "write"]).meta({ description: "`write` includes `read`" });
const perMinute = z.number().int().min(1).max(6000);
const perDay = z.number().int().min(1).max(1_000_000);
const expiry = z.iso
  .datetime({ offset: true })
  .nullable()
  .meta({ description: "In the future; null for a key that never expires" });

export const ApiKeyCreate = z
  .strictObject({
    name,
    scope,
    expires_at: expiry.optional(),
    rate_limit_per_minute: perMinute.default(60),
    quota_per_day: perDay.default(10_000),
  })
  .meta({ id: "ApiKeyCreate" });

export const ApiKeyUpdate = z
  .strictObject({
    name: name.optional(),
    expires_at: expiry.optional(),
    rate_limit_per_minute: perMinute.optional(),
    quota_per_day: perDay.optional(),
  })
  .meta({ id: "ApiKeyUpdate" });

export const ApiKeyRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: "How the key begins, to tell keys apart" }),
    scope,
    rate_limit_per_minute: z.number().int(),
    quota_per_day: z.number().int(),
    last_used_at: Instant.nullable().meta({ description: "To the minute" }),
    expires_at: Instant.nullable(),
    revoked_at: Instant.nullable(),
    created_at: Instant,
  })
  .meta({ id: "ApiKeyRead" });

export const ApiKeyIssued = ApiKeyRead.extend({
  key: z.string().nullable().meta({ description: "The key itself, shown this once; null in a replay" }),
}).meta({ id: "ApiKeyIssued" });
