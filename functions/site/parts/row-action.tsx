import { randomUUID } from "node:crypto";
import { KEY } from "./form.tsx";

interface RowActionProps {
  action: string;
  /** What is sent as `id`. */
  id: string;
  /** What is sent as `do`, where one row has several such buttons. */
  wish?: string;
  label: string;
  /** The name of what it is done to, which tells the buttons of a table apart for who can't see the rows. */
  of: string;
  /** Whether it is done once however often the form is sent. */
  once?: boolean;
}

/** A button in the row of a table, which does something with what stands in that row. */
export function RowAction({ action, id, wish, label, of, once }: RowActionProps) {
  return (
    <form method="post" action={action}>
      {once === true && <input type="hidden" name={KEY} value={randomUUID()} />}
      <input type="hidden" name="id" value={id} />
      {wish !== undefined && <input type="hidden" name="do" value={wish} />}
      <button type="submit" class="quiet" aria-label={`${label} ${of}`}>
        {label}
      </button>
    </form>
  );
}
