import * as z from "zod";
import { line } from "../../platform/line.ts";
import { Instant } from "../../platform/time.ts";
import { KEY_SCOPES } from "../../db/schema/index.ts";

const name = line(120);
const scope = z.enum(["read", "write"]);
const perMinute = z.int().min(1).max(6000);
const perDay = z.int().min(1).max(1_000_000);
const expiry = z.iso
  .datetime({ offset: true })
  // To the millisecond, as it is told: the database would round what is finer, beyond the last year even.
  .transform((text) => new Date(text).toISOString())
  .nullable()
  .meta({ description: "In the future, up to the year 9999; null for a key that never expires" });

function oneKindOfScope(
  body: { scope?: string | undefined; scopes?: string[] | undefined },
  context: z.RefinementCtx,
): void {
  if (body.scope === undefined && body.scopes === undefined) {
    const message = "Say what the key may do, by scopes or by scope.";
    context.addIssue({ code: "custom", path: ["scopes"], message, params: { code: "missing_field" } });
  }
  if (body.scope === undefined || body.scopes === undefined) return;
  for (const field of ["scope", "scopes"]) {
    context.addIssue({
      code: "custom",
      path: [field],
      message: "scope and scopes exclude each other; send one of them.",
      params: { code: "conflicting_parameters" },
    });
  }
}

export const ApiKeyCreate = z
  .strictObject({
    name,
    scope: scope.optional().meta({ description: "For agents and runs; `write` includes `read`. Or name `scopes`" }),
    scopes: z
      .array(z.enum(KEY_SCOPES))
      .min(1)
      .max(KEY_SCOPES.length)
      .optional()
      .meta({ description: "What the key may do, in place of `scope`: nothing else. `…:write` includes `…:read`" }),
    expires_at: expiry.optional(),
    rate_limit_per_minute: perMinute.default(60),
    quota_per_day: perDay.default(10_000),
  })
  .superRefine(oneKindOfScope)
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
    team_id: z
      .uuid()
      .nullable()
      .meta({ description: "The workspace that the key acts for; null for an account's key" }),
    name: z.string(),
    prefix: z.string().meta({ description: "How the key begins, to tell keys apart" }),
    scope: scope.meta({ description: "`write` where the key may write anything at all" }),
    scopes: z.array(z.enum(KEY_SCOPES)).meta({ description: "All that the key may do; `…:write` includes `…:read`" }),
    rate_limit_per_minute: z.int(),
    quota_per_day: z.int(),
    last_used_at: Instant.nullable().meta({ description: "To the minute" }),
    expires_at: Instant.nullable(),
    revoked_at: Instant.nullable(),
    created_at: Instant,
  })
  .meta({ id: "ApiKeyRead" });

export const ApiKeyIssued = ApiKeyRead.extend({
  key: z.string().nullable().meta({ description: "The key itself, shown this once; null in a replay" }),
}).meta({ id: "ApiKeyIssued" });
