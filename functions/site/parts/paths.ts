/**
 * Where a browser whose access token is over takes its session up again. It lies under the path of the refresh cookie, as
 * the browser sends that nowhere else.
 */
export const RESUME_PATH = "/api/v1/auth/refresh/resume";

/** Where somebody who has just signed in goes without another wish. */
export const HOME = "/home";

/** Stands for the service in addresses of its own pages. */
const HERE = "https://here.invalid";

/** A path of this service's own pages with its query; `/home` for whatever leads elsewhere, or to no page. */
export function localPath(next: string | null | undefined): string {
  if (next == null || !next.startsWith("/")) return HOME;
  // What a browser makes of it decides: `//host`, `/\host` and tabs in between lead to other sites.
  const url = URL.canParse(next, HERE) ? new URL(next, HERE) : null;
  if (url === null || url.origin !== HERE || url.pathname.startsWith("//") || url.pathname.startsWith("/api/"))
    return HOME;
  return url.pathname + url.search;
}

/** A path that remembers where to go afterwards. */
export function withNext(path: string, next: string): string {
  return next === HOME ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** Where a page leads whoever has come to the end of what the plan allows. */
export const PLAN = "/settings/plan";
