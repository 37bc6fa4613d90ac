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

/** A column by its heading; `wide` may break its lines, `number` stands to the right, `mute` holds nothing but buttons. */
export type Column = string | readonly [heading: string, kind: "wide" | "number" | "mute"];

function Heading({ column }: { column: Column }) {
  if (typeof column === "string") return <th>{column}</th>;
  const [heading, kind] = column;
  return kind === "mute" ? (
    <th>
      <span class="mute">{heading}</span>
    </th>
  ) : (
    <th class={kind}>{heading}</th>
  );
}

/** A table of what its label says, with a row for each child; `caption` is what everybody reads above it. */
export function Table({
  label,
  caption,
  columns,
  children,
}: PropsWithChildren<{ label: string; caption?: string; columns: readonly Column[] }>) {
  return (
    <Scroll label={label}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

/** What stands where there is nothing yet: why, and what to do. */
export function Empty({ children }: PropsWithChildren) {
  return <div class="empty">{children}</div>;
}
