import { Scroll } from "../notice.tsx";

/** How often something was passed of so many tries; null where it was never tried. */
export type Cell = { passed: number; tries: number } | null;

/** A row of a matrix: what it is about, where that leads, and a cell for each column. */
export interface Row {
  name: string;
  href?: string;
  cells: readonly Cell[];
}

/** The colour of a cell; its text says the same. */
function looks(cell: Cell): string {
  if (cell === null || cell.tries === 0) return "cell";
  if (cell.passed === 0) return "cell none";
  return cell.passed === cell.tries ? "cell all" : "cell some";
}

/** Rows by columns, each cell with how many of its tries were passed. */
export function Matrix({ title, columns, rows }: { title: string; columns: readonly string[]; rows: readonly Row[] }) {
  return (
    <Scroll label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <td />
            {columns.map((name) => (
              <th scope="col" class="column">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, href, cells }) => (
            <tr>
              <th scope="row" class="wide">
                {href === undefined ? name : <a href={href}>{name}</a>}
              </th>
              {cells.map((cell) => (
                <td class={looks(cell)}>{cell === null ? "–" : `${cell.passed} of ${cell.tries}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
