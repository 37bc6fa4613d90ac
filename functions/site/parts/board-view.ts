/** For how long a board looks back. */
export const PERIODS = [
  ["all", "all time"],
  ["30d", "30 days"],
  ["7d", "7 days"],
] as const;
/** What the interface takes where nobody asks for another. */
export const PAGE_SIZE = 20;

/** What is shown of the board. */
export interface View {
  domain: string | undefined;
  period: (typeof PERIODS)[number][0];
  verified: boolean;
  certified: boolean;
  /** What agents are looked for by. */
  q: string | undefined;
  page: number;
  page_size: number;
}

/** The parameters that lead to a view, without those that are as nobody asked for them. */
export function parametersOf(next: View): URLSearchParams {
  const query = new URLSearchParams();
  if (next.q !== undefined) query.set("q", next.q);
  if (next.domain !== undefined) query.set("domain", next.domain);
  if (next.period !== "all") query.set("period", next.period);
  if (next.verified) query.set("verified_only", "true");
  if (next.certified) query.set("certified_only", "true");
  if (next.page_size !== PAGE_SIZE) query.set("page_size", String(next.page_size));
  if (next.page > 1) query.set("page", String(next.page));
  return query;
}

/** Where a view is shown, changed in something; on its first page unless that is changed. */
export function address(view: View, change: Partial<View>): string {
  const text = parametersOf({ ...view, page: 1, ...change }).toString();
  return text === "" ? "/" : `/?${text}`;
}

/** Where a search engine finds what a view shows: its page of the whole board of its domain, or of one that is narrowed the first. */
export function canonical(view: View): string {
  const whole: View = { ...view, period: "all", verified: false, certified: false, q: undefined, page_size: PAGE_SIZE };
  return address(whole, { page: address(view, {}) === address(whole, {}) ? view.page : 1 });
}
