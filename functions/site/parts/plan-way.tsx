import { PLAN } from "./paths.ts";

/** The way to the plans behind a refusal that a larger one helps against: seats, keys and passkeys have limits that none raises. */
export function PlanWay() {
  return (
    <>
      {" "}
      <a href={PLAN}>What each plan allows</a>
    </>
  );
}
