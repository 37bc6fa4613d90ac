import type { PropsWithChildren } from "hono/jsx";
import { Problem } from "../../../shared/platform/problem.ts";
import { attempt, type Wrong } from "./form.tsx";

/**
 * A form that is sent once the browser has made a passkey, or has answered by one. It is shown by its script alone, where
 * the browser has passkeys; the page has to name that.
 */
export function PasskeyForm({
  action,
  wish,
  button,
  quiet = false,
  children,
}: PropsWithChildren<{ action: string; wish: "create" | "get"; button: string; quiet?: boolean }>) {
  return (
    <form method="post" action={action} data-passkey={wish} hidden>
      <input type="hidden" name="credential" value="" />
      {children}
      <p>
        <button type="submit" {...(quiet ? { class: "quiet" } : {})}>
          {button}
        </button>
      </p>
      <p role="status"></p>
    </form>
  );
}

/** The browser's answer as the form has it; null where that is none. */
export function credentialOf(form: URLSearchParams): unknown {
  try {
    return JSON.parse(form.get("credential") ?? "");
  } catch {
    return null;
  }
}

/**
 * As `attempt`, for the work behind such a form: a person knows of no challenges, only that the page was loaded again, or
 * that the device took long. `then` says what to do.
 */
export function attemptPasskey<T>(names: readonly string[], then: string, work: () => Promise<T>): Promise<T | Wrong> {
  return attempt(names, () =>
    work().catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== "invalid_token") throw error;
      throw new Problem("invalid_token", `Your device's answer was sent before, or came after five minutes. ${then}`);
    }),
  );
}
