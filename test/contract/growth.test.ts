import { expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { allReads } from "../bench/growth.ts";

/** GETs that the bench does not ask for among a thousand and a million rows, and why. */
const NOT_MEASURED: Record<string, string> = {
  "/api/v1/auth/codehost": "leads to the code host; reads nothing",
  "/api/v1/auth/codehost/callback": "asks the code host; one account by its key",
  "/api/v1/auth/device": "one row by its code",
  "/api/v1/users/me/totp": "one row by its account",
  "/api/v1/users/me/passkeys": "at most a page of one account",
  "/api/v1/users/me/notifications": "settings on the account's row",
  "/api/v1/users/me/export": "a file of all that an account has: linear, and read by keyset like the exports of runs",
  "/api/v1/users/me/deletion": "a preview that counts all that goes with the account",
  "/api/v1/runs/export.csv": "linear, with a line of its own: rows a second",
  "/api/v1/runs/export.jsonl": "as export.csv",
  "/api/v1/runs/{run_id}/events": "a stream, which looks like a run each time",
  "/api/v1/screening-sessions/{session_id}/events": "a stream, which looks like a session each time",
  "/api/v1/screening-schedules/{id}": "one row by its key, as the list shows it",
  "/api/v1/tasks/secret-suites/diagnostic": "for operators; the catalogue is the same at both sizes",
  "/api/v1/playbooks/declared-configurations": "constants",
  "/api/v1/scorecards/templates": "constants",
  "/api/v1/billing/status": "settings",
  "/api/v1/billing/pending-payment": "asks the payment provider",
  "/api/v1/certify/diagnostic": "settings",
  "/api/v1/pmf/results": "one row of one account",
  "/healthz": "reads nothing",
  "/readyz": "one row of each table of work, of the messages owed as many as a sweep takes at once",
  "/openapi.json": "made at the build",
  "/.well-known/jwks.json": "settings",
  "/.well-known/did.json": "settings",
  "/.well-known/http-message-signatures-directory": "settings",
  "/log/checkpoint": "one row; the log grows in lines of its own",
  "/log/key": "settings",
  "/log/tile/{tile_path}": "one row by its key; the log grows in lines of its own",
};

const ID = "01938e7a-0000-7000-8000-000000000003";
const GETS = ROUTES.filter(({ method }) => method === "get").map(({ path }) => path);

/** The path of the route that serves a request: of those that fit, the one with the fewest parameters. */
function servedBy(asked: string): string | undefined {
  const { pathname } = new URL(asked, "http://127.0.0.1");
  const fits = GETS.filter((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname));
  return fits.toSorted((a, b) => a.split("{").length - b.split("{").length)[0];
}

test("every GET is measured among a thousand and a million rows, or it is said why not", () => {
  const viewers = { owner: ID, other: ID, agent: ID, team: ID, webhook: ID };
  const reads = Object.values(allReads(viewers, { id: ID, suite_id: ID }, 1000)).filter(
    ({ body }) => body === undefined,
  );
  const measured = reads.map(({ path }) => servedBy(path));
  expect(measured.filter((path) => path === undefined)).toEqual([]);
  const missing = GETS.filter((path) => !measured.includes(path) && NOT_MEASURED[path] === undefined);
  expect(missing).toEqual([]);
  expect(Object.keys(NOT_MEASURED).filter((path) => !GETS.includes(path))).toEqual([]);
});
