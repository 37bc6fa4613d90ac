import { UserRead } from "../../../shared/identity/shown.ts";
import { notFound } from "../../../shared/platform/problem.ts";
import { Nav } from "./nav.tsx";
import { isSignedIn } from "./signed-in.ts";
import type { View, Visit } from "./view.ts";

const PAGES = [
  ["/admin", "Overview"],
  ["/admin/proposals", "Proposals"],
  ["/admin/suites", "Suites and tasks"],
] as const;

/** The ways between the pages of operators. */
export function OperatorsNav({ current }: { current: string }) {
  return <Nav label="Operators" ways={PAGES} current={current} />;
}

/** What a page for operators does or shows; for everybody else, signed in or not, there is nothing at its address. */
export function forOperators(work: (visit: Visit) => Promise<Response>): View["show"] {
  return async (visit) => {
    // A session that is over is taken up again first; who never had one is not sent to sign in.
    if (!isSignedIn(visit.c)) throw notFound("page");
    const { is_admin } = await visit.api.read("/api/v1/auth/me", UserRead);
    if (!is_admin) throw notFound("page");
    return work(visit);
  };
}
