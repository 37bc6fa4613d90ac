import { ServiceError } from "./problem.ts";
import type { Send } from "./retry.ts";

/** As many as the platforms follow by themselves. */
const MOST_REDIRECTS = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request, and follows redirects of reads within the service's own origin alone: another one would get what the
 * request says, and the platforms leave its key out there, so that whoever is signed in would read that they are not.
 * Throws a `ServiceError` that names the address for any other redirect, unless the request says itself what to do at one.
 */
export function atHome(send: Send): Send {
  return async (request) => {
    if (request.redirect !== "follow") return send(request);
    let asked = new Request(request, { redirect: "manual" });
    for (let hops = 0; ; hops++) {
      const response = await send(asked);
      // A browser does not tell where a redirect leads.
      if (response.type !== "opaqueredirect" && !REDIRECTS.has(response.status)) return response;
      const target = targetOf(response, asked.url);
      const isRead = asked.method === "GET" || asked.method === "HEAD";
      if (target?.origin !== new URL(asked.url).origin || !isRead || hops === MOST_REDIRECTS)
        throw new ServiceError(response, undefined, redirected(asked.url, target));
      await response.body?.cancel();
      asked = new Request(target, asked);
    }
  };
}

function targetOf({ headers }: Response, url: string): URL | null {
  const location = headers.get("location");
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : null;
}

function redirected(url: string, target: URL | null): string {
  const { origin } = new URL(url);
  if (target === null) return `${url} redirects elsewhere, where no key is sent: is ${origin} the service's address?`;
  if (target.origin === origin) return `${url} redirects to ${target}: is ${origin} the service's address?`;
  return `${origin} redirects to ${target.origin}, where no key is sent: set ${target.origin} as the service's address, if you trust it.`;
}
