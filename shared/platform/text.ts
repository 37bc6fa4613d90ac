/** Whether the database can hold a text: it is Unicode (no lone surrogate) and has no U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
