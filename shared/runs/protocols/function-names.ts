const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** How many of a name's characters are kept; the rest of the 64 is room for a number that tells two names apart. */
const KEPT = 56;

/**
 * The function names that stand for tool names. A name that matches OpenAI's pattern stands for itself; in any other, the
 * characters that the pattern forbids become `_`. Different tools get different names, and the same list always the same.
 * @example
 * functionNames(["get_order", "order/cancel"]) // Map { "get_order" → "get_order", "order/cancel" → "order_cancel" }
 */
export function functionNames(tools: readonly string[]): Map<string, string> {
  const names = new Map(tools.filter((tool) => FUNCTION_NAME.test(tool)).map((tool) => [tool, tool]));
  const taken = new Set(names.keys());
  for (const tool of tools) {
    if (names.has(tool)) continue;
    const plain = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, KEPT) || "_";
    let name = plain;
    for (let number = taken.size; taken.has(name); number += 1) name = `${plain}_${number}`;
    names.set(tool, name);
    taken.add(name);
  }
  return names;
}
