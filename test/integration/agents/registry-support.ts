import type { User } from "../../stack/client.ts";
import { from, unique } from "../runs/support.ts";

export const PATH = "/.well-known/agent.json";

/** The web as the service sees it: what is served, by URL; everything else is 404. */
export const web = new Map<string, () => Response>();
/** What the service fetched of it. */
export const fetched: string[] = [];
let asked = 0;

/** The service's `fetch`: of this web alone. */
export async function fetchFromWeb(input: string | URL | Request): Promise<Response> {
  const { url } = new Request(input);
  fetched.push(url);
  return web.get(url)?.() ?? new Response("<!doctype html>", { status: 404 });
}

/** A web that serves nothing, and of which nothing was fetched. */
export function clearWeb(): void {
  web.clear();
  fetched.length = 0;
}

export const at = (host: string, path = PATH) => `https://${host}${path}`;
export const serve = (url: string, value: unknown) => void web.set(url, () => Response.json(value));
export const redirect = (url: string, to: string) =>
  void web.set(url, () => new Response(null, { status: 302, headers: { location: to } }));

/** Has a URL discovered or registered, from an address of its own. */
export const ask = (who: User, what: "discover" | "register", url: string, headers: object = {}) =>
  who.call("POST", `/api/v1/registry/${what}`, { url }, { ...from((asked += 1)), ...headers });

/** A manifest of a host, whose name no other has. */
export const manifestOf = (host: string, fields: object = {}) => ({
  name: unique("Registered"),
  endpoint: at(host, "/run"),
  ...fields,
});
