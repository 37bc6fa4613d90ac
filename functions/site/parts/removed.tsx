import type * as z from "zod";
import type { DeletionPreview } from "../../../shared/identity/shown.ts";

const COUNTED = [
  ["agents", "agents, with their scores on the board"],
  ["runs", "runs"],
  ["api_keys", "API keys"],
  ["webhook_subscriptions", "webhooks"],
  ["workspaces_owned", "workspaces"],
  ["purchases", "purchases"],
] as const;

/** What a deletion of the account takes away, and what it leaves. */
export function Removed({ preview }: { preview: z.output<typeof DeletionPreview> }) {
  return (
    <>
      <p>
        After 14 days this is removed for good; until then everything works, and you can change your mind. Counted runs
        of public agents and their signed evidence stay, without your name.
      </p>
      <dl>
        {COUNTED.map(([name, text]) => (
          <>
            <dt>{preview[name]}</dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    </>
  );
}
