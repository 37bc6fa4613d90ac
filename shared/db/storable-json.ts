/** Rows as JSON that jsonb can hold, which knows neither U+0000 nor lone surrogates: an agent names its models itself. */
export function storableJson(rows: readonly unknown[]): string {
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value,
  );
}
