import type * as z from "zod";
import type { AgentComparisons } from "../../../shared/board/compare-all.ts";
import { Notice } from "./notice.tsx";

/** Of whom nothing can be said, though they were chosen; and a way to those of whom something can, if they are at least `fewest`. */
export function NotCompared({
  agents,
  by_task: byTask,
  fewest,
}: Pick<z.output<typeof AgentComparisons>, "agents" | "by_task"> & { fewest: number }) {
  const isCompared = (index: number): boolean => byTask.some(({ results }) => results[index] !== null);
  const without = agents.filter((_agent, index) => !isCompared(index));
  const others = agents.filter((_agent, index) => isCompared(index));
  if (without.length === 0) return null;
  return (
    <Notice>
      <p>
        {without.map(({ name }, index) => (
          <>
            {index > 0 && ", "}
            <bdi>{name}</bdi>
          </>
        ))}{" "}
        {without.length === 1 ? "has" : "have"} no scored run of a real call yet, so there is nothing to compare.
        {others.length >= fewest && (
          <>
            {" "}
            <a href={`/compare?agents=${others.map(({ agent_id }) => agent_id).join(",")}`}>Compare the others alone</a>
          </>
        )}
      </p>
    </Notice>
  );
}
