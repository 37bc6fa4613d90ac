import ipaddr from "ipaddr.js";
import * as z from "zod";
import { createPatience, patience } from "../patience.ts";
import { Problem } from "../problem.ts";
import { readCapped } from "./body.ts";

const MAX_ANSWER_BYTES = 64 * 1024;
const RECORD_TYPES = { A: 1, AAAA: 28 } as const;
const NO_ERROR = 0;
const NAME_ERROR = 3;
// All global unicast that IANA has given out (RFC 4291 section 2.4); what lies outside is local, mapped or unassigned.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Asks the DNS. */
export interface DnsResolver {
  /**
   * The addresses of one type that a name has after its CNAMEs are followed; empty when it has none.
   * Rejects when that can't be known: no answer, a failure, a truncated answer.
   */
  query(hostname: string, type: keyof typeof RECORD_TYPES, signal: AbortSignal): Promise<readonly string[]>;
}

/**
 * No definite answer came to the question for a name: a fault of ours, whoever owns the name. Where nobody catches it,
 * a caller gets a 503, and a message of the queue is tried again.
 */
export class ResolverFault extends Problem {
  constructor(cause?: unknown) {
    const detail =
      "Our DNS resolver gave no definite answer for the name, so nothing was sent there. This is our fault and is held " +
      "against nobody. Try again in a minute.";
    super("dependency_unavailable", detail, { headers: { "Retry-After": "60" } });
    this.cause = cause;
  }
}

/** Whether a name leads to public addresses only, or why it may not be called. */
export type NameVerdict =
  | { ok: true }
  | { ok: false; code: "name_not_resolved" | "address_not_public"; message: string };

const DnsAnswer = z.object({
  Status: z.literal([NO_ERROR, NAME_ERROR]),
  TC: z.literal(false).optional(),
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).default([]),
});

/**
 * Resolves names by DNS over HTTPS in its JSON form (`application/dns-json`, as the public resolvers serve it).
 * A query fails after `timeoutMs` in which the isolate was free to read its answer.
 */
export function dohResolver(options: { url: string; fetch: typeof fetch; timeoutMs: number }): DnsResolver {
  // Taken out of the object: workerd refuses a fetch that is called as a method.
  const { fetch } = options;
  return {
    async query(hostname, type, signal) {
      const url = new URL(options.url);
      url.searchParams.set("name", hostname);
      url.searchParams.set("type", type);
      const response = await fetch(url, {
        headers: { accept: "application/dns-json" },
        redirect: "manual",
        signal: AbortSignal.any([signal, patience(options.timeoutMs)]),
      });
      const bytes = await readCapped(response, MAX_ANSWER_BYTES);
      if (response.status !== 200 || bytes === null) throw new Error("the resolver did not answer");
      const answer = DnsAnswer.parse(JSON.parse(new TextDecoder().decode(bytes)));
      return answer.Answer.filter((record) => record.type === RECORD_TYPES[type]).map((record) => record.data);
    },
  };
}

/** How long the addresses of a name are waited for, in milliseconds. */
const LOOKUP_MS = 5000;

/**
 * Asks for a name's A and AAAA records at once and demands that every address is public unicast; a name that has none is
 * refused. It fails closed: where an answer is missing, and none of the others has settled it, it throws `ResolverFault`.
 */
export async function assertPublic(hostname: string, resolver: DnsResolver): Promise<NameVerdict> {
  const limit = createPatience(LOOKUP_MS);
  const { signal } = limit;
  const answers = await Promise.allSettled([
    resolver.query(hostname, "A", signal),
    resolver.query(hostname, "AAAA", signal),
  ]).finally(() => limit.end());
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (!addresses.every(isPublicAddress)) {
    return {
      ok: false,
      code: "address_not_public",
      message: `${hostname} has an address that is not public. Remove it from its A and AAAA records.`,
    };
  }
  const missing = answers.find((answer) => answer.status === "rejected");
  if (missing !== undefined) throw new ResolverFault(missing.reason);
  if (addresses.length === 0) {
    return {
      ok: false,
      code: "name_not_resolved",
      message: `${hostname} could not be resolved to an address. Check its A and AAAA records.`,
    };
  }
  return { ok: true };
}

/**
 * A resolver that gives what it answered before where the one behind it fails now. An agent that has seen its task can't
 * have the run called off then by making its name's own servers fail.
 */
export function remembering(asked: DnsResolver): DnsResolver {
  const known = new Map<string, readonly string[]>();
  return {
    async query(hostname, type, signal) {
      const question = `${type} ${hostname}`;
      try {
        const answer = await asked.query(hostname, type, signal);
        known.set(question, answer);
        return answer;
      } catch (error) {
        const before = known.get(question);
        if (before === undefined) throw error;
        return before;
      }
    },
  };
}

/**
 * Whether an address is public unicast by the IANA special-purpose registries. Every wrapping of an IPv4 address
 * (mapped, compatible, 6to4, Teredo, NAT64) is refused whatever it wraps; so is text that is no plain address.
 */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text).range() === "unicast";
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST) && address.zoneId === undefined;
}
