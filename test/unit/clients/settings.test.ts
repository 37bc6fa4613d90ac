import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

const run = promisify(execFile);
const SOURCE = new URL("../../../clients/cli/src/settings.ts", import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), "settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a program of its own prints that has all of the settings at hand, in a folder that is empty. */
async function printed(program: string, env: Record<string, string>): Promise<string> {
  const code = `import * as settings from ${JSON.stringify(SOURCE)};\n${program}`;
  const node = run(process.execPath, ["--input-type=module", "-e", code], { cwd: folder, env });
  return (await node).stdout;
}

it("no key is kept in the folder that somebody without a home works in, and nothing is missed there", async () => {
  const program = `const refused = (work) => { try { return work(); } catch ({ exit, message }) { return [exit, message]; } };
    const { url, signedIn } = settings.connect({ url: "https://service.test" }, process);
    const keeping = [() => settings.provenToKeep(process), () => settings.keep(process, url, "ask_x")];
    console.log(JSON.stringify([url, signedIn, ...keeping.map(refused)]));`;
  const refusal = [2, expect.stringContaining("XDG_CONFIG_HOME")];
  const found: unknown = JSON.parse(await printed(program, { HOME: "" }));
  expect(found).toEqual(["https://service.test", false, refusal, refusal]);
  expect(readdirSync(folder)).toEqual([]);
});

it("programs that sign in at once do not take away each other's file", async () => {
  const program = `settings.provenToKeep(process);
    for (let at = 0; at < 200; at++) settings.keep(process, "https://service.test", "ask_x");`;
  const env = { XDG_CONFIG_HOME: join(folder, "config") };
  await Promise.all(Array.from({ length: 3 }, () => printed(program, env)));
  const [file, ...others] = readdirSync(join(folder, "config/agent-screening"));
  expect([file, others]).toEqual(["config.json", []]);
  const text = readFileSync(join(folder, "config/agent-screening/config.json"), "utf8");
  expect(JSON.parse(text)).toEqual({ url: "https://service.test", keys: { "https://service.test": "ask_x" } });
});
