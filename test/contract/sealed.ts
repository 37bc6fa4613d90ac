import { createService } from "../../functions/service.ts";
import { DELIVERIES } from "../../queues/index.ts";
import type { Service } from "../../shared/http/app.ts";
import type { Endpoint, Route } from "../../shared/http/route.ts";
import type { Context } from "../../shared/platform/context.ts";
import type { Env } from "../../shared/platform/env.ts";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";

/** The service's own address in these tests. */
export const BASE_URL = "https://screening.example.test";

/** The service with nothing behind it: what it tries to reach is noted in `touched` and throws. */
export interface SealedService {
  service: Service & { env: Env };
  /** What was reached for, as `redis.evalsha limit:read:…` or `db.select`. */
  touched: string[];
  /** A context as a request gets it. */
  context(): Context;
}

/** Puts the service together as the Worker does, then seals its database, Redis, queue and network. */
export async function sealedService(): Promise<SealedService> {
  const nowhere = "http://127.0.0.1:9";
  const real = createService(
    {
      ...DEVELOPMENT,
      ...(await newSecrets()),
      BASE_URL,
      FRONTEND_URL: BASE_URL,
      DATABASE_URL: "postgres://nobody@127.0.0.1:9/nothing",
      UPSTASH_REDIS_REST_URL: nowhere,
      QSTASH_URL: nowhere,
      DNS_RESOLVER_URL: nowhere,
    },
    DELIVERIES,
    { log: () => {} },
  );
  const touched: string[] = [];
  const sealed = <T extends object>(name: string): T => {
    const call =
      (member: string) =>
      (...given: unknown[]): never => {
        touched.push([`${name}.${member}`, ...(given.find((value) => Array.isArray(value)) ?? [])].join(" "));
        throw new Error(`${name} is sealed`);
      };
    // What the limiter's library tells the client about itself is no command.
    return new Proxy({} as T, {
      get: (_target, member) => (member === "addTelemetry" ? undefined : call(String(member))),
    });
  };
  const network = sealed<{ fetch: Context["fetch"]; resolve: Context["resolver"] }>("network");
  const service = {
    ...real,
    context: (request: Parameters<Service["context"]>[0]): Context => ({
      ...real.context(request),
      db: sealed("db"),
      redis: sealed("redis"),
      queue: sealed("queue"),
      resolver: network.resolve,
      fetch: network.fetch,
    }),
  };
  return {
    service,
    touched,
    context: () => service.context({ requestId: "test", addressHash: null, defer: () => {} }),
  };
}

/** Endpoints of routes that are there already. */
export function endpointsOf(routes: readonly Route[]): Endpoint[] {
  return routes.map((route) => ({ method: route.method, path: route.path, load: async () => route }));
}
