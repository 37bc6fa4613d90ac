/** Where firewalls say that they want a browser: Cloudflare's, Vercel's and AWS WAF, the last with status 202 or 405. */
const CHECKS = ["cf-mitigated", "x-vercel-mitigated", "x-amzn-waf-action"];

const PAGE = /^\s*<(?:!doctype\s+html|html|head)\b/i;
/** How much of an answer its beginning is looked for in, in bytes. */
const BEGINNING = 256;

/** An answer of an endpoint, or of what stands before it. */
interface Answered {
  headers: Headers;
  body: Uint8Array;
}

/** Whether an answer comes from a firewall before the endpoint, which asks its caller to prove that it is a browser. */
export function isBrowserCheck(headers: Headers): boolean {
  return CHECKS.some((name) => /^(?:challenge|captcha)$/i.test(headers.get(name) ?? ""));
}

/** What shows that an answer may not be the endpoint's own, in a sentence that quotes nothing of it; empty if nothing does. */
export function gatewayWords({ headers, body }: Answered): string {
  if (isBrowserCheck(headers)) {
    return "A firewall before the endpoint asks for a browser: let the service's calls pass there.";
  }
  if (!PAGE.test(new TextDecoder().decode(body.subarray(0, BEGINNING)))) return "";
  return "The answer is a page of HTML, as hosts and gateways send it in an endpoint's place.";
}
