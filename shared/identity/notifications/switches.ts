import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { read, write } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import { SWITCHES } from "../../mail/notices.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { NotificationsRead, type NotificationsUpdate } from "./schemas.ts";

type Notifications = z.output<typeof NotificationsRead>;

/** SQL: the JSON of the switches of the account row `u`, true where it hears of that kind. */
const switchesJson: SQL = sql`(select jsonb_object_agg(k, not k = any(u.muted_notices))
  from jsonb_array_elements_text(${JSON.stringify(Object.keys(NotificationsRead.shape))}::jsonb) k)`;

/** Which notifications the account gets. Throws 401 when it is gone. */
export async function readNotifications(ctx: Context, userId: string): Promise<Notifications> {
  const statement = sql`select ${switchesJson} as result from ${users} u where u.id = ${userId}::uuid`;
  return found(await read(ctx, NotificationsRead, statement));
}

/** Changes the switches that are given, and leaves the others as they are. Throws 401 when the account is gone. */
export async function updateNotifications(
  ctx: Context,
  userId: string,
  input: z.output<typeof NotificationsUpdate>,
): Promise<Notifications> {
  const given = Object.entries(input).filter(([kind]) => kind in SWITCHES);
  const listed = (on: boolean): SQL => {
    const kinds = given.filter(([, value]) => value === on).map(([kind]) => kind);
    return sql`(select jsonb_array_elements_text(${JSON.stringify(kinds)}::jsonb))`;
  };
  const updated = await write(ctx, {
    parts: sql`with u as (
      update ${users} u set muted_notices = array(
          (select unnest(u.muted_notices) union ${listed(false)}) except ${listed(true)} order by 1
        ), updated_at = now()
      where u.id = ${userId}::uuid returning u.*
    )`,
    select: sql`select ${switchesJson} as result from u`,
    result: NotificationsRead,
  });
  return found(updated);
}

function found(notifications: Notifications | null): Notifications {
  if (notifications === null) throw new Problem("unauthenticated", "This account does not exist any more.");
  return notifications;
}
