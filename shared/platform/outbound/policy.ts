import type { Env } from "../env.ts";

const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Where the service may call. */
export interface OutboundPolicy {
  /** The service's own addresses as `URL.host` writes them: a name, with its port where that is not the default. */
  ownHosts: readonly string[];
  /** Development only: http and https to 127.0.0.1, [::1] and localhost on any port. Loosens nothing else. */
  allowLoopbackHttp: boolean;
}

type Settings = Pick<Env, "ENVIRONMENT" | "BASE_URL" | "FRONTEND_URL">;

const policies = new WeakMap<Settings, OutboundPolicy>();

/** The policy that the settings imply, always the same one: loopback is callable everywhere but in production. */
export function outboundPolicy(env: Settings): OutboundPolicy {
  const policy = policies.get(env) ?? {
    ownHosts: [env.BASE_URL, env.FRONTEND_URL].map((url) => new URL(url).host),
    allowLoopbackHttp: env.ENVIRONMENT !== "production",
  };
  policies.set(env, policy);
  return policy;
}

/** Whether a URL names this machine in one of the three spellings that development allows. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK_HOSTS.has(url.hostname);
}
