/**
 * Does `work` for each item in order, and after every `size` of them lets this isolate see to what has arrived meanwhile:
 * an answer that waits to be read is timed as late as it is read. Rejects as `work` does.
 */
export async function inStretches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    results.push(await work(item));
  }
  return results;
}
