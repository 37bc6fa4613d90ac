/** One cookie as an answer sets it. */
export interface SetCookie {
  value: string;
  /** Everything after the value, such as `Max-Age=600`, sorted. */
  attributes: string[];
}

/** The cookies that an answer sets, by name. */
export function cookiesOf(answer: { headers: Headers }): Record<string, SetCookie> {
  return Object.fromEntries(
    answer.headers.getSetCookie().map((line) => {
      const [pair = "", ...attributes] = line.split("; ");
      const split = pair.indexOf("=");
      return [pair.slice(0, split), { value: pair.slice(split + 1), attributes: attributes.toSorted() }];
    }),
  );
}
