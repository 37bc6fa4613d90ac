import { PLAN } from "./paths.ts";

/** The way to the plans behind a refusal that a plan has to do with: seats, keys and passkeys have limits that none raises. */
export function PlanWay({ status, message }: { status: number; message: string | null }) {
  if (status !== 402 || !/\b(?:plan|upgrade)\b/i.test(message ?? "")) return null;
  return (
    <>
      {" "}
      <a href={PLAN}>What each plan allows</a>
    </>
  );
}
