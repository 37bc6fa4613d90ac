import { type Child, cloneElement, isValidElement, type PropsWithChildren } from "hono/jsx";

/** Something that a visitor has to know; `alert` is read out at once, and the keyboard goes on from there. */
export function Notice({
  kind = "plain",
  alert = false,
  children,
}: PropsWithChildren<{ kind?: "plain" | "good" | "bad"; alert?: boolean }>) {
  return (
    <div
      class={kind === "plain" ? "notice" : `notice ${kind}`}
      {...(alert ? { role: "alert", tabindex: -1, autofocus: true } : {})}
    >
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

const isButtons = (column: Column | undefined): boolean => Array.isArray(column) && column[1] === "mute";

/** A row whose cells each know the heading of their column, but for those of buttons, which say themselves what they do. */
function named(row: Child, columns: readonly Column[]): Child {
  if (!isValidElement(row)) return row;
  const cells = row.children.filter(isValidElement).map((cell, index) => {
    const column = columns[index];
    return isButtons(column)
      ? cell
      : cloneElement(cell, { "data-of": typeof column === "string" ? column : column?.[0] });
  });
  return cloneElement(row, {}, ...cells);
}

/**
 * A table of what its label says, with a row for each child; `caption` is what everybody reads above it. One with buttons
 * shows each row as a list where the window is too narrow for it: they would stand beyond its edge, where nobody looks.
 */
export function Table({
  label,
  caption,
  columns,
  children,
}: PropsWithChildren<{ label: string; caption?: string; columns: readonly Column[] }>) {
  const hasButtons = columns.some(isButtons);
  return (
    <Scroll label={label}>
      <table class={hasButtons ? "rows" : undefined}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{hasButtons ? [children].flat(2).map((row: Child) => named(row, columns)) : children}</tbody>
      </table>
    </Scroll>
  );
}

/** What stands where there is nothing yet: why, and what to do. */
export function Empty({ children }: PropsWithChildren) {
  return <div class="empty">{children}</div>;
}
