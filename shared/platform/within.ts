/**
 * Resolves with `work`, or after `ms` milliseconds. A request that waits for what another one does needs such an end: workerd
 * takes one that waits for nothing of its own for hung, and drops one whose caller is gone without a word to who waits for it.
 */
export async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expiry = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, expiry]);
  clearTimeout(timer);
}
