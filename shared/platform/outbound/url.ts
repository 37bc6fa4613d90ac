import ipaddr from "ipaddr.js";
import { parse as parseName } from "tldts";
import { isLoopback, type OutboundPolicy } from "./policy.ts";

const MAX_LENGTH = 2048;
const PORTS = new Set(["", "443", "8443"]);
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// The suffix list carries these two, yet RFC 7686 and RFC 3172 keep them from being hosts of the public web.
const NOT_THE_WEB = new Set(["onion", "arpa"]);

/** What can be wrong with a URL before anything is sent. */
export type UrlProblem =
  | "malformed_url"
  | "too_long"
  | "scheme_not_https"
  | "userinfo_not_allowed"
  | "fragment_not_allowed"
  | "own_host"
  | "ip_literal"
  | "not_public_name"
  | "port_not_allowed";

/** A URL that may be called, in its normal form, or why not and what to do about it. */
export type UrlVerdict = { ok: true; url: URL } | { ok: false; code: UrlProblem; message: string };

const MESSAGES: Record<UrlProblem, string> = {
  malformed_url: "This is not an absolute URL. Write it as https://host/path, without spaces or backslashes.",
  too_long: `The URL is too long. Use at most ${MAX_LENGTH} characters.`,
  scheme_not_https: "Only https is called. Serve the endpoint over TLS and use an https:// URL.",
  userinfo_not_allowed: "Credentials in a URL are not allowed. Remove everything before the @.",
  fragment_not_allowed: "A fragment is never sent. Remove the # and what follows it.",
  own_host: "This is the service's own address. Use the address of the agent or receiver.",
  ip_literal: "IP addresses are not called. Use a public DNS name.",
  not_public_name:
    "The host is not a public DNS name. Use a name of letters, digits and hyphens under a public suffix, such as agent.example.com.",
  port_not_allowed: "The port is not allowed. Use 443 or 8443.",
};

/**
 * Judges a URL that a stranger gave by its text alone; no packet is sent. It takes https on port 443 or 8443 to a name
 * under an ICANN public suffix, at most 2048 characters, without credentials or fragment, and not the service itself.
 * The judgement is made on the form that the URL parser sends (WHATWG), so no spelling of an address gets past it.
 * Whether the name resolves to a public address is for `assertPublic` to say.
 */
export function checkUrl(raw: string, policy: OutboundPolicy): UrlVerdict {
  if (raw.length > MAX_LENGTH) return refuse("too_long");
  // The parser would drop or turn these silently, and what is stored would not be what was read.
  const url = /[\s\\\p{Cc}]/u.test(raw) ? null : URL.parse(raw);
  if (url === null) return refuse("malformed_url");
  if (url.href.length > MAX_LENGTH) return refuse("too_long");

  const loopback = policy.allowLoopbackHttp && isLoopback(url);
  if (url.protocol !== "https:" && !(loopback && url.protocol === "http:")) return refuse("scheme_not_https");
  // The parser also takes https:host and https:///host, and forgets an empty userinfo.
  const authority = /^https?:\/\/([^/?#]+)/i.exec(raw)?.[1];
  if (authority === undefined) return refuse("malformed_url");
  if (authority.includes("@")) return refuse("userinfo_not_allowed");
  if (raw.includes("#")) return refuse("fragment_not_allowed");
  if (policy.ownHosts.some((host) => isSameHost(url, host))) return refuse("own_host");
  if (loopback) return { ok: true, url };
  if (isAddress(url.hostname)) return refuse("ip_literal");
  if (!isPublicName(url.hostname)) return refuse("not_public_name");
  if (!PORTS.has(url.port)) return refuse("port_not_allowed");
  return { ok: true, url };
}

function refuse(code: UrlProblem): UrlVerdict {
  return { ok: false, code, message: MESSAGES[code] };
}

/** A public name is the service's on every port; on loopback the port tells services apart and the spelling doesn't. */
function isSameHost(url: URL, host: string): boolean {
  const own = URL.parse(`${url.protocol}//${host}`);
  if (own === null) return false;
  return isLoopback(own) && isLoopback(url) ? own.port === url.port : own.hostname === url.hostname;
}

/** For http and https the parser writes every spelling of an IPv4 address as four decimals, and IPv6 in brackets. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || ipaddr.IPv4.isValidFourPartDecimal(hostname);
}

/** Letters, digits and hyphens (RFC 1123) under a suffix of the ICANN section, which is not itself the name. */
function isPublicName(hostname: string): boolean {
  if (hostname.length > 253 || !hostname.split(".").every((label) => LDH_LABEL.test(label))) return false;
  const { domain, isIcann } = parseName(hostname, { extractHostname: false });
  return domain !== null && isIcann === true && !NOT_THE_WEB.has(hostname.slice(hostname.lastIndexOf(".") + 1));
}
