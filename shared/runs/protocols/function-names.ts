const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Of the 64 characters, so many are kept of a name; the rest is for the number that tells two of them apart. */
const KEPT = 56;

/**
 * The function names that stand for tool names: a name that OpenAI's pattern takes stands for itself, any other for its
 * characters that the pattern takes. Different tools have different function names, the same ones whenever it is asked.
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
