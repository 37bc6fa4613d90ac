import { Buffer } from "node:buffer";
import * as z from "zod";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { decrypt, encrypt } from "../platform/encryption.ts";
import { conflicting, Problem } from "../platform/problem.ts";
import type { PageQuery } from "./paging.ts";

/** The parameter `cursor` of a list that can be read on from a place in it. */
export const cursorQuery = z
  .string()
  .max(1000)
  .optional()
  .meta({
    description:
      "In place of `page`: empty for the beginning, then the `next_cursor` of the answer before, with the same filters and " +
      "credentials. Nothing comes twice or is left out, whatever is added in the meantime, and nothing is counted",
  });

/** The schema of an answer to `cursor`; `name` names it in the OpenAPI document. */
export function sliceOf<T extends z.ZodType>(item: T, name: string) {
  return z
    .object({
      items: z.array(item),
      page_size: z.int(),
      next_cursor: z.string().nullable().meta({ description: "What to send as `cursor` next; null at the end" }),
    })
    .meta({ id: name });
}

/** What a list has from a place on, and the keys of its last item; null without an item. */
export interface Slice {
  items: unknown[];
  more: boolean;
  last: unknown;
}

/** A request for a list by cursor. */
interface Asked<Key extends z.ZodType> extends PageQuery {
  principal: Principal;
  /** What is listed, with all that narrows and orders it. */
  list: string;
  filter: Readonly<Record<string, unknown>>;
  cursor: string;
  /** How the keys of an item are read. */
  key: Key;
}

/**
 * The answer's body for a slice that `readAfter` reads: from behind the item with these keys, or from the beginning (null).
 * A cursor is sealed, so that nobody makes one, and bound to caller, list and filter: throws `invalid_cursor` for one of
 * another list, `conflicting_parameters` for one with a page.
 */
export async function sliced<Key extends z.ZodType>(
  ctx: Context,
  { principal, list, filter, cursor, key, page, page_size }: Asked<Key>,
  readAfter: (after: z.output<Key> | null) => Promise<Slice>,
) {
  if (page !== 1) throw conflicting(["page", "cursor"]);
  const narrowed = Object.entries(filter).filter(([, value]) => value !== undefined);
  const purpose = JSON.stringify([
    "cursor",
    list,
    viewerId(principal),
    narrowed.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  const after = cursor === "" ? null : opened(ctx, cursor, purpose, key);
  const { items, more, last } = await readAfter(after);
  const seal = () =>
    Buffer.from(encrypt(JSON.stringify(last), ctx.env.DATA_ENCRYPTION_KEYS, purpose)).toString("base64url");
  return { items, page_size, next_cursor: more ? seal() : null };
}

function opened<Key extends z.ZodType>(ctx: Context, cursor: string, purpose: string, key: Key): z.output<Key> {
  try {
    const sealed = Buffer.from(cursor, "base64url").toString();
    return key.parse(JSON.parse(decrypt(sealed, ctx.env.DATA_ENCRYPTION_KEYS, purpose)));
  } catch {
    const message =
      "The cursor is of another list, other filters or another caller, or too old; begin anew with an empty one.";
    throw new Problem("invalid_cursor", message, {
      errors: [{ in: "query", pointer: "/cursor", code: "invalid_cursor", message }],
    });
  }
}
