import createFetchClient, { type Client } from "openapi-fetch";
import { type FollowOptions, follower, type StreamEvent, type StreamPath } from "./follow.ts";
import { IDEMPOTENT } from "./generated/idempotent.ts";
import type { paths } from "./generated/service.ts";
import { type ItemOf, type ListPath, type ListOptions, lister } from "./pages.ts";
import { type FileOptions, type FilePath, type RecordOf, reader } from "./lines.ts";
import { ServiceError, typeOf } from "./problem.ts";
import { atHome } from "./redirect.ts";
import { type Retries, retrying, type Send, USUAL } from "./retry.ts";

/** How to reach the service. */
export interface ClientOptions extends Partial<Retries> {
  /** Where the service is, such as `https://service.example`. */
  baseUrl: string;
  /** An API key, or the access token of a session; without one the client reads what everybody may read. */
  key?: string | undefined;
  /** Sends the requests, in place of the platform's `fetch`. */
  fetch?: Send;
}

/** The service's endpoints with their types, lists as one sequence, and event streams that outlive their connections. */
export interface ScreeningClient extends Client<paths> {
  /**
   * Every item of a list, page by page as they are taken; of a list without pages, such as the spans of a run, all at once.
   * @throws ServiceError
   * @example
   * for await (const run of client.each("/api/v1/runs", { query: { agent_id } })) console.log(run.status);
   */
  each<P extends ListPath>(path: P, options?: ListOptions<P>): AsyncGenerator<ItemOf<P>, void>;
  /**
   * Every record of a file in JSON Lines, as it arrives: however large the file is, no more than a line of it is held.
   * @throws ServiceError; Error where the file ends within a line
   * @example
   * for await (const run of client.lines("/api/v1/runs/export.jsonl", { query: { agent_id } })) console.log(run.cost_usd);
   */
  lines<P extends FilePath>(path: P, options?: FileOptions<P>): AsyncGenerator<RecordOf<P>, void>;
  /**
   * The events of a run or session until it is final; a connection that is lost is taken up where it broke.
   * @throws ServiceError
   * @example
   * for await (const { event, data } of client.follow("/api/v1/runs/{run_id}/events", { path: { run_id } })) …
   */
  follow<P extends StreamPath>(path: P, options: FollowOptions<P>): AsyncGenerator<StreamEvent<P>, void>;
}

/**
 * A client of the service at `baseUrl`. Requests that fail in passing are sent again (see `retries`), and what creates or
 * spends carries an idempotency key, so that nothing happens twice.
 * @example
 * const client = createClient({ baseUrl: "https://service.example", key: process.env.AGENT_SCREENING_KEY });
 * const { items } = await given(client.GET("/api/v1/leaderboard"));
 */
export function createClient(options: ClientOptions): ScreeningClient {
  const { key, fetch: given = (request) => fetch(request) } = options;
  const { retries = USUAL.retries, longestPauseMs = USUAL.longestPauseMs, sleep = USUAL.sleep } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const again: Retries = { retries, longestPauseMs, sleep };
  const retried = atHome(retrying(given, again));
  const send: Send = async (request) => {
    if (key !== undefined) request.headers.set("authorization", `Bearer ${key}`);
    const response = await retried(request);
    // No endpoint gives a page: it is of something between, or of another site.
    if (response.ok && request.url.startsWith(`${baseUrl}/api/`) && typeOf(response).startsWith("text/html"))
      throw new ServiceError(response);
    return response;
  };
  const client = createFetchClient<paths>({ baseUrl, fetch: send });
  client.use({
    onRequest({ request, schemaPath }) {
      const wanted = request.method === "POST" && IDEMPOTENT.has(schemaPath);
      if (wanted && !request.headers.has("idempotency-key")) {
        request.headers.set("idempotency-key", crypto.randomUUID());
      }
    },
  });
  return {
    ...client,
    each: lister(baseUrl, send),
    lines: reader(baseUrl, send),
    follow: follower(baseUrl, send, again),
  };
}
