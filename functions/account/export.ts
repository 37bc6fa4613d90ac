import { route } from "../../shared/http/route.ts";
import { streamed } from "../../shared/http/stream.ts";

export const accountExport = [
  route({
    id: "exportAccount",
    method: "get",
    path: "/api/v1/users/me/export",
    tag: "Accounts",
    summary: "Everything that the account holds, as a ZIP file",
    description:
      "`profile.json`, `notifications.json` and `second-factor.json`, and JSON Lines of the agents (`agents.jsonl`, with " +
      "the declared configurations), `runs.jsonl`, what was sent and received in them (`answers.jsonl`), what the agents' " +
      "telemetry told of them (`spans.jsonl`), what the agents were made of by it (`versions.jsonl`), `screening-sessions.jsonl`, `certifications.jsonl`, `schedules.jsonl`, " +
      "`scorecards.jsonl`, `webhooks.jsonl`, `webhook-deliveries.jsonl`, `api-keys.jsonl`, `passkeys.jsonl`, " +
      "`sessions.jsonl`, `linked-accounts.jsonl`, `workspaces.jsonl`, `purchases.jsonl`, `listings.jsonl`, `sales.jsonl`, " +
      "`survey-answers.jsonl`, what was noted of signing in and up (`events.jsonl`), and `proposals.jsonl`: each item as " +
      "its endpoint, where it has one, answers it, newest first: spans and versions agent by agent, deliveries subscription " +
      "by subscription. Secrets (keys, tokens, what signs webhooks) are in none of " +
      "them. What belongs to a workspace is not the account's and is left out, " +
      "except for the runs that the caller asked for; a listing of an agent that has become another's, and that the caller " +
      "can't see, has null for its name. An answer that ends without its last chunk is incomplete.",
    auth: "session",
    streamed: true,
    returns: { 200: { type: "application/zip", description: "The file, as it is read from the database" } },
    problems: [],
    async handler({ ctx, principal, c }) {
      // It reads what every domain has of the account: nobody who is refused waits for all of that.
      const { exportAccount } = await import("../../shared/portability/export.ts");
      const file = await exportAccount(ctx, principal);
      return c.newResponse(streamed(ctx, file), 200, {
        "Content-Type": "application/zip",
        "Content-Disposition": `attachment; filename="account-${ctx.now().toISOString().slice(0, 10)}.zip"`,
        "Cache-Control": "private, no-store",
        Vary: "Authorization, Cookie, X-API-Key",
      });
    },
  }),
];
