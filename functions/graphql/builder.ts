import SchemaBuilder from "@pothos/core";
import { SCORE_BASES } from "../../shared/agents/score-bases.ts";
import { DOMAINS } from "../../shared/catalogue/domains.ts";
import { REGISTRY_STATES, RUN_STATES, VERIFIED_STATES } from "../../shared/db/schema/index.ts";
import type { Principal } from "../../shared/identity/principal.ts";
import type { Context } from "../../shared/platform/context.ts";
import { Instant } from "../../shared/platform/time.ts";

/** What a resolver works with. */
export interface Caller {
  ctx: Context;
  principal: Principal;
}

/** Makes the types of the schema. */
export const builder = new SchemaBuilder<{
  Context: Caller;
  DefaultFieldNullability: false;
  Scalars: { DateTime: { Input: string; Output: string }; JSON: { Input: unknown; Output: unknown } };
}>({ defaultFieldNullability: false });

builder.scalarType("DateTime", {
  description: "ISO 8601 in UTC with milliseconds",
  serialize: (value) => Instant.parse(value),
});
builder.scalarType("JSON", { description: "Any JSON value", serialize: (value) => value });

export const Domain = builder.enumType("TaskDomain", { values: DOMAINS });
export const VerifiedState = builder.enumType("VerifiedState", { values: VERIFIED_STATES });
export const RegistryStatus = builder.enumType("RegistryStatus", { values: REGISTRY_STATES });
export const ScoreBasis = builder.enumType("ScoreBasis", { values: SCORE_BASES });
export const RunStatus = builder.enumType("RunStatus", { values: RUN_STATES });
