import type { PropsWithChildren } from "hono/jsx";

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
