import type { PropsWithChildren } from "hono/jsx";

/** Something that a visitor has to know; `alert` is read out at once. */
export function Notice({
  kind = "plain",
  alert = false,
  children,
}: PropsWithChildren<{ kind?: "plain" | "good" | "bad"; alert?: boolean }>) {
  return (
    <div class={kind === "plain" ? "notice" : `notice ${kind}`} {...(alert ? { role: "alert" } : {})}>
      {children}
    </div>
  );
}

/** A table that may be wider than the page: it scrolls by itself, by keyboard too. */
export function Scroll({ label, children }: PropsWithChildren<{ label: string }>) {
  return (
    <div class="scroll" role="region" aria-label={label} tabindex={0}>
      {children}
    </div>
  );
}

/** What stands where there is nothing yet: why, and what to do. */
export function Empty({ children }: PropsWithChildren) {
  return <div class="empty">{children}</div>;
}
