import { setTimeout } from "node:timers/promises";
import * as z from "zod";

const Problem = z.object({ code: z.string(), detail: z.string().optional() });

/** A step of the demo that did not happen as it has to; the message says which and why. */
export class DemoFailure extends Error {}

/** Goes on only where `condition` holds. */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new DemoFailure(message);
}

/** A caller of the service's HTTP API. Every answer is held against its schema; anything but 2xx is a DemoFailure. */
export interface ApiClient {
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
  /** All items of a paginated list. */
  all<T>(path: string, item: z.ZodType<T>): Promise<T[]>;
  /** The text of an answer of one media type. */
  text(path: string, accept: string): Promise<string>;
  /** The same API in the name of the account that `accessToken` belongs to. */
  as(accessToken: string): ApiClient;
}

const PAGE_SIZE = 100;
/** Limits are of a minute: on a quick machine the demo reads more than one has room for. */
const LONGEST_WAIT_SECONDS = 60;

/** A client for the service at `baseUrl`, anonymous unless it has an access token. */
export function createClient(baseUrl: string, accessToken?: string): ApiClient {
  const authorization = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };

  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Response> {
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: { ...authorization, ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (response.ok) return response;
    const wait = Number(response.headers.get("retry-after"));
    // Beyond its limit a request is not carried out: it may be sent again, whatever its method.
    if (response.status === 429 && wait > 0 && wait <= LONGEST_WAIT_SECONDS) {
      await response.body?.cancel();
      console.error(`  The limit of requests a minute is reached; going on in ${wait} s.`);
      await setTimeout(wait * 1000);
      return send(method, path, headers, body);
    }
    const problem = Problem.safeParse(await response.json().catch(() => undefined)).data;
    throw new DemoFailure(
      `${method} ${path} answered ${response.status} ${problem?.code ?? ""} ${problem?.detail ?? ""}`.trimEnd(),
    );
  }

  async function read<T>(path: string, response: Response, schema: z.ZodType<T>): Promise<T> {
    const parsed = schema.safeParse(await response.json());
    if (!parsed.success)
      throw new DemoFailure(`${path} answered what its schema does not allow: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  }

  const client: ApiClient = {
    get: async (path, schema) => read(path, await send("GET", path, { accept: "application/json" }), schema),
    post: async (path, body, schema) =>
      read(path, await send("POST", path, { "content-type": "application/json" }, body), schema),
    async all(path, item) {
      const page = z.object({ items: z.array(item), total: z.number() });
      const items: z.output<typeof item>[] = [];
      for (let number = 1; ; number += 1) {
        const separator = path.includes("?") ? "&" : "?";
        const { items: more, total } = await client.get(
          `${path}${separator}page=${number}&page_size=${PAGE_SIZE}`,
          page,
        );
        items.push(...more);
        if (items.length >= total || more.length === 0) return items;
      }
    },
    text: async (path, accept) => (await send("GET", path, { accept })).text(),
    as: (token) => createClient(baseUrl, token),
  };
  return client;
}
