import * as z from "zod";
import { Instant } from "../platform/time.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/);

export const EpochRead = z
  .object({
    epoch: z.string().meta({ description: "A day by UTC; a service with shorter epochs names each by its start" }),
    commitment: hex.meta({ description: "SHA-256 over the 32 bytes of the secret, in hex" }),
    committed_at: Instant.meta({ description: "When the commitment was found in the log" }),
    log_index: z.int().meta({ description: "The place of its entry in the log, from 0" }),
    revealed_at: Instant.nullable(),
    secret: hex.nullable().meta({ description: "In hex, from seven days after the epoch's end on" }),
  })
  .meta({ id: "EpochRead" });
