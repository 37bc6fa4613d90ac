import type { Faults } from "../faults.ts";
import { bearer, CUT, type Handler, json, type Reply, type Request } from "../http.ts";
import { expireDue } from "./checkout.ts";
import { checkParams, type Params, parseParams, StripeRefusal } from "./params.ts";
import type { Account } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { newId, type Store } from "./store.ts";
import { expirePending } from "./subscriptions.ts";

/** A call as it came. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly params: Params;
  /** What the caller chose; undefined where the SDK made one up for its own retry. */
  readonly idempotencyKey: string | undefined;
  /** What the provider answered, also where that got lost; 0 where a fault kept the call from being done. */
  status: number;
}

/** What the API stands on. */
export interface ApiParts extends Account {
  readonly key: string;
  readonly faults: Faults;
  readonly requests: Asked[];
  readonly refused: string[];
}

interface Claim {
  readonly by: Asked;
  readonly at: number;
  reply?: Reply;
}

const KEPT_S = 86_400;
const MAX_KEY = 255;
const MADE_UP = /^stripe-node-retry-/;

/**
 * The provider's API over HTTP. Parameters that no route knows are refused. The same Idempotency-Key gives the first
 * answer of a POST that was begun again, for a day (https://docs.stripe.com/api/idempotent_requests).
 */
export function stripeApi({ key, faults, requests, refused, ...account }: ApiParts): Handler {
  const claims = new Map<string, Claim>();

  // The work of the call: what a fault may keep from being done.
  function prepare(request: Request, asked: Asked, idempotencyKey: string | undefined): () => Reply {
    const { method, path, params } = asked;
    if (bearer(request.headers) !== key) throw new StripeRefusal(401, { message: "Invalid API Key provided." });
    if (request.headers["stripe-account"] !== undefined)
      throw new StripeRefusal(
        403,
        { code: "account_invalid", message: "Nothing is done on behalf of another account here." },
        true,
      );
    const route = ROUTES.find((one) => one.method === method && one.path.test(path));
    if (route === undefined)
      throw new StripeRefusal(404, { message: `Unrecognized request URL (${method}: ${path}).` }, true);
    const id = decodeURIComponent(route.path.exec(path)?.[1] ?? "");
    const { expand, ...own } = checkParams(route.params, params);
    const work = (): Reply => {
      const requestId = newId("req_");
      catchUp(account.store);
      account.store.request = { id: requestId, idempotency_key: idempotencyKey ?? null };
      const headers = { "request-id": requestId };
      try {
        return json(200, account.store.render(route.run(account, id, own as never), expand), headers);
      } catch (error) {
        return refusal(asked, error);
      } finally {
        account.store.request = null;
      }
    };
    return idempotencyKey === undefined || method !== "POST" ? work : once(idempotencyKey, asked, work);
  }

  function once(idempotencyKey: string, asked: Asked, work: () => Reply): () => Reply {
    if (idempotencyKey.length > MAX_KEY)
      throw new StripeRefusal(400, { message: `An idempotency key has at most ${MAX_KEY} characters.` }, true);
    const now = account.store.now();
    const known = claims.get(idempotencyKey);
    if (known === undefined || known.at <= now - KEPT_S) {
      const claim: Claim = { by: asked, at: now };
      claims.set(idempotencyKey, claim);
      return () => (claim.reply = account.mood.breaks ? breakDown() : work());
    }
    if (callOf(known.by) !== callOf(asked)) {
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${idempotencyKey}' if you meant to execute a different request.`;
      throw new StripeRefusal(400, { type: "idempotency_error", message });
    }
    const { reply } = known;
    if (reply === undefined) {
      const message = `There is currently another in-progress request using this Idempotency Key: ${idempotencyKey}.`;
      throw new StripeRefusal(409, { code: "idempotency_key_in_use", message });
    }
    return () => ({ ...reply, headers: { ...reply.headers, "idempotent-replayed": "true" } });
  }

  // The provider says itself that to try again gives the same.
  function breakDown(): Reply {
    account.mood.breaks = false;
    const headers = { "request-id": newId("req_"), "stripe-should-retry": "false" };
    return json(500, { error: { type: "api_error", message: "An unknown error occurred." } }, headers);
  }

  function refusal({ method, path }: Asked, error: unknown): Reply {
    if (!(error instanceof StripeRefusal)) throw error;
    if (error.isMistake) refused.push(`${method} ${path}: ${error.message}`);
    return json(error.status, { error: error.body });
  }

  return async (request) => {
    const { method, url, headers, body } = request;
    const sent = headers["idempotency-key"];
    const given = typeof sent === "string" ? sent : undefined;
    const asked: Asked = {
      method,
      path: url.pathname,
      params: parseParams(`${url.search.slice(1)}&${body.toString()}`),
      idempotencyKey: given === undefined || MADE_UP.test(given) ? undefined : given,
      status: 0,
    };
    requests.push(asked);
    let run: () => Reply;
    try {
      run = prepare(request, asked, given);
    } catch (error) {
      run = () => refusal(asked, error);
    }
    const reply = await faults.around("provider", () => {
      const made = run();
      asked.status = made.status;
      return made;
    })(request);
    if (asked.status === 0 && given !== undefined && claims.get(given)?.by === asked) claims.delete(given);
    if (reply === CUT || asked.status !== 0 || reply.status !== 500) return reply;
    return json(reply.status, { error: { type: "api_error", message: "An error occurred on the provider's side." } });
  };
}

/** Lets happen what was due by now. */
export function catchUp(store: Store): void {
  expireDue(store);
  expirePending(store);
}

function callOf({ method, path, params }: Asked): string {
  return JSON.stringify([method, path, params]);
}
