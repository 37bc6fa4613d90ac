import { PLANS } from "../../../shared/plans/plans.ts";
import { Scroll } from "./notice.tsx";

const LIMITS = [
  ["runs", "Runs a month"],
  ["agents", "Agents"],
  ["workspaces", "Workspaces"],
  ["schedules", "Schedules"],
  ["webhooks", "Webhooks"],
] as const;

/** A limit as people write it: "5,000". The runtime's own formatter takes longer to load than all else of the page. */
const written = (limit: number | null): string =>
  limit === null ? "unlimited" : String(limit).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

/** How many agents an account has, of how many that its plan allows. */
export const agentsOf = ({ agent_count: count, plan }: { agent_count: number; plan: keyof typeof PLANS }): string =>
  `${count} of ${PLANS[plan].agents ?? "any number"}`;

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
                <td class="number">{written(limits[limit])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
