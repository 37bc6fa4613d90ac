import { describeError } from "../../db/client.ts";
import type { Context } from "../../platform/context.ts";

/** Longer than any vendor lets a database be set back: Neon does by 30 days at most. */
const KEPT_SECONDS = 45 * 86_400;

/** A deletion that was asked for: of which account, and for when. */
export interface Asked {
  id: string;
  at: string;
}

/** By its time, too: the account may ask for another one. */
const keyOf = ({ id, at }: Asked): string => `deletion-taken-back:${id}:${new Date(at).toISOString()}`;

/**
 * Notes outside the database that a deletion was taken back: one that is set back to a backup has forgotten it, and would
 * delete the account for good. As good as can be: where the note can't be kept, the log tells.
 */
export async function noteTakenBack(ctx: Context, deletion: Asked): Promise<void> {
  await ctx.redis.set(keyOf(deletion), 1, { ex: KEPT_SECONDS }).catch((error: unknown) => {
    ctx.log.error("that a deletion was taken back could not be noted", {
      user_id: deletion.id,
      detail: describeError(error),
    });
  });
}

/** Whether a deletion was taken back that the database has as pending. Throws where Redis does not answer: nobody can tell then. */
export async function wasTakenBack(ctx: Context, deletion: Asked): Promise<boolean> {
  return (await ctx.redis.get(keyOf(deletion))) !== null;
}

/** Forgets the note: the account asks for the deletion again that the database has as pending. */
export async function askAgain(ctx: Context, deletion: Asked): Promise<void> {
  await ctx.redis.del(keyOf(deletion));
}
