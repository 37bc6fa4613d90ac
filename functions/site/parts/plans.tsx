import { PLANS } from "../../../shared/plans/plans.ts";
import { Scroll } from "./notice.tsx";

const LIMITS = [
  ["runs", "Runs a month"],
  ["agents", "Agents"],
  ["workspaces", "Workspaces"],
  ["schedules", "Schedules"],
  ["webhooks", "Webhooks"],
] as const;

/** What the plans allow, side by side; `current` is the reader's own. */
export function Plans({ current }: { current?: string }) {
  return (
    <Scroll label="What each plan allows">
      <table>
        <thead>
          <tr>
            <th>Plan</th>
            {LIMITS.map(([, title]) => (
              <th class="number">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(PLANS).map(([name, limits]) => (
            <tr>
              <th scope="row">
                {name}
                {name === current && <span class="tag">yours</span>}
              </th>
              {LIMITS.map(([limit]) => (
                <td class="number">{limits[limit]?.toLocaleString("en") ?? "unlimited"}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
