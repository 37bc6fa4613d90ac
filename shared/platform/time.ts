import * as z from "zod";

/** A time as PostgreSQL's JSON writes it (`2026-11-21T09:00:00+00:00`), shown as the interface does: UTC, milliseconds. */
export const Instant = z
  .string()
  .overwrite((text) => new Date(text).toISOString())
  .meta({ format: "date-time", example: "2026-11-21T09:00:00.000Z" });
