import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../stack/scratch.ts";

const PREFIX = "screening-scratch-";

test("a folder to work in is new, and what the killed left behind is gone, but nothing of the living or of others", () => {
  const own = scratchFolder(PREFIX);
  const beside = (name: string) => join(dirname(own), name);
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  const left = beside(`${PREFIX}${dead}-left`);
  const kept = [own, beside(`${PREFIX}${process.ppid}-kept`), beside(`${PREFIX}unnamed`), beside(`other-${dead}-kept`)];
  for (const folder of [left, ...kept]) mkdirSync(join(folder, "data"), { recursive: true });
  const next = scratchFolder(PREFIX);
  expect([left, next, ...kept].filter((folder) => !existsSync(folder))).toEqual([left]);
  expect(next).not.toBe(own);
  for (const folder of [next, ...kept]) rmSync(folder, { recursive: true });
});
