import type { PropsWithChildren } from "hono/jsx";
import { Scroll } from "../notice.tsx";

interface FigureProps {
  title: string;
  heads: readonly string[];
  /** What the picture shows, a row each: words first, then numbers. */
  rows: readonly (readonly (string | number)[])[];
  /** Whether the numbers are seen at once; else a click away. */
  open?: boolean;
}

/** A chart with its title and, behind it, the numbers that it is drawn from. */
export function Figure({ title, heads, rows, open = false, children }: PropsWithChildren<FigureProps>) {
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {children}
      <details {...(open ? { open: true } : {})}>
        <summary>
          The numbers<span class="unseen">: {title}</span>
        </summary>
        <Scroll label={`${title}: the numbers`}>
          <table>
            <thead>
              <tr>
                {heads.map((head, index) => (
                  <th scope="col" class={index === 0 ? "wide" : "number"}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr>
                  {row.map((cell, index) => (
                    <td class={index === 0 ? "wide" : "number"}>{index === 0 ? <bdi>{cell}</bdi> : cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  );
}
