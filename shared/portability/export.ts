import { makeZip } from "client-zip";
import type * as z from "zod";
import { pagesOf, type Rows } from "../db/rows.ts";
import { readAccount } from "../identity/account.ts";
import { readNotifications } from "../identity/notifications/switches.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import { readTotp } from "../identity/second-factor/read.ts";
import type { Context } from "../platform/context.ts";
import { partsOf } from "./parts.ts";

/**
 * Everything that the account holds, as the pieces of a ZIP file: `profile.json`, `notifications.json`,
 * `second-factor.json`, and a file of JSON Lines for each kind of thing. It is made while it is read, a page of one file in memory at a time; what changes meanwhile
 * may be in one file and not in another. Throws 401 when the account is gone; what fails only after the beginning breaks
 * the file off.
 */
export async function exportAccount(
  ctx: Context,
  principal: SessionPrincipal,
): Promise<() => AsyncGenerator<Uint8Array>> {
  const { userId } = principal;
  const profile = await readAccount(ctx, userId);
  const lastModified = ctx.now();
  async function* files() {
    yield { name: "profile.json", input: text(profile), lastModified };
    yield { name: "notifications.json", input: text(await readNotifications(ctx, userId)), lastModified };
    yield { name: "second-factor.json", input: text(await readTotp(ctx, principal)), lastModified };
    for (const [name, rows] of Object.entries(partsOf(ctx, principal))) {
      yield { name: `${name}.jsonl`, input: linesOf(ctx, rows), lastModified };
    }
  }
  return async function* () {
    const reader = makeZip(files()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel();
    }
  };
}

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The rows as JSON Lines, a piece for each page. */
async function* linesOf(ctx: Context, rows: Rows<z.ZodType>): AsyncGenerator<string> {
  for await (const items of pagesOf(ctx, rows)) yield items.map((item) => `${JSON.stringify(item)}\n`).join("");
}
