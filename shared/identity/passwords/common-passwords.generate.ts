/** Writes common-passwords.ts: of the 10,000 most common passwords those long enough to pass the length rule. */
import { readFileSync, writeFileSync } from "node:fs";
import { dictionary } from "@zxcvbn-ts/language-common";

const MIN_LENGTH = 10;
const target = new URL("./common-passwords.ts", import.meta.url);
const list = dictionary["passwords-common"].slice(0, 10_000).filter((word: string) => word.length >= MIN_LENGTH);
const lines = list.toSorted().map((word: string) => `  ${JSON.stringify(word)},`);
const source = `// Generated from @zxcvbn-ts/language-common by common-passwords.generate.ts.

/** Those of the 10,000 most common passwords that have ten characters or more, in lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set([
${lines.join("\n")}
]);
`;
if (!process.argv.includes("--check")) writeFileSync(target, source);
else if (readFileSync(target, "utf8") !== source) {
  console.error("common-passwords.ts is not up to date: run npm run generate");
  process.exitCode = 1;
}
