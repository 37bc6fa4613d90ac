import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { certifications } from "../db/schema/index.ts";
import { CERTIFICATION_CREDENTIAL } from "../evidence/credential.ts";
import type { Verification } from "../evidence/verify.ts";
import type { Context } from "../platform/context.ts";
import { verify } from "../results/evidence.ts";

/**
 * Verifies any statement of the service: its signature and form, as anybody can offline, that its term has not ended, and
 * that the credential of a certification is not revoked.
 */
export async function verifyInForce(
  ctx: Context,
  jws: string,
): Promise<Verification | { valid: false; reason: "revoked" }> {
  const found = await verify(ctx, jws);
  if (!found.valid) return found;
  const { id, type, validUntil } = found.statement;
  if (validUntil !== undefined && Date.parse(validUntil) <= ctx.now().getTime())
    return { valid: false, reason: "expired" };
  if (!type.includes(CERTIFICATION_CREDENTIAL)) return found;
  const revoked = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${certifications}
      where id = ${id.replace(/^urn:uuid:/, "")}::uuid and revoked_at is not null`,
  );
  return revoked === null ? found : { valid: false, reason: "revoked" };
}
