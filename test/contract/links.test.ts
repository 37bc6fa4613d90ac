import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { filesInRoot, filesUnder } from "./sources.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = [...filesInRoot(), ...filesUnder("functions", "shared", "test", "clients")].filter(
  ({ path }) => path.endsWith(".md") || path === "wrangler.toml",
);
const BY_PATH = new Map(DOCUMENTS.map(({ path, text }) => [path, text]));

/** What stands in a document besides examples of code. */
const prose = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, "");

/** The sections of a document by their headings. */
function headings(path: string): string[] {
  return [...prose(BY_PATH.get(path) ?? "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title);
}

/** The name by which a link leads to a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** What a document links to here: the path from the root, and the section where one is named. */
function links(path: string, text: string): [target: string, anchor: string | undefined][] {
  return [...prose(text).matchAll(/\]\((?!\w+:|\/)([^)\s]+)\)/g)].map(([, link = ""]) => {
    const [to = "", anchor] = link.split("#", 2);
    return [to === "" ? path : posix.join(posix.dirname(path), to), anchor];
  });
}

/** What a document names as a file and, in quotes after it, a section: `guide.md, "Settings"`. */
function named(text: string): [target: string, title: string][] {
  const line = text.replaceAll(/\n[#>]? */g, " ");
  return [...line.matchAll(/([\w./-]+\.md)`?, "([^"]+)"/g)].map(([, file = "", title = ""]) => [file, title]);
}

test.each(DOCUMENTS.map(({ path, text }) => [path, text]))("%s leads only to what there is", (path, text) => {
  const dead = [
    ...links(path, text).flatMap(([target, anchor]) => {
      if (!existsSync(join(ROOT, target))) return [target];
      return anchor === undefined || headings(target).map(anchorOf).includes(anchor) ? [] : [`${target}#${anchor}`];
    }),
    ...named(text).flatMap(([file, title]) => (headings(file).includes(title) ? [] : [`${file}, "${title}"`])),
  ];
  expect(dead).toEqual([]);
});
