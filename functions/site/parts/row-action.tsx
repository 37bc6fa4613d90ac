interface RowActionProps {
  action: string;
  /** What is sent as `id`. */
  id: string;
  /** What is sent as `do`, where one row has several such buttons. */
  wish?: string;
  label: string;
  /** The name of what it is done to, which tells the buttons of a table apart for who can't see the rows. */
  of: string;
}

/** A button in the row of a table, which does something with what stands in that row. */
export function RowAction({ action, id, wish, label, of }: RowActionProps) {
  return (
    <form method="post" action={action}>
      <input type="hidden" name="id" value={id} />
      {wish !== undefined && <input type="hidden" name="do" value={wish} />}
      <button type="submit" class="quiet" aria-label={`${label} ${of}`}>
        {label}
      </button>
    </form>
  );
}
