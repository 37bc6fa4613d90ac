// RFC 9110 section 5.6.7: the one form that senders may write; the two obsolete ones are not met in practice.
const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Milliseconds that a Retry-After header (RFC 9110 section 10.2.3) asks to wait from `now`, in seconds or as a date.
 * A date that has passed is 0; null where the header is missing or is neither.
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = IMF_FIXDATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
