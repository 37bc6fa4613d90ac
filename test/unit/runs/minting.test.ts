import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newSecret } from "../../../shared/epochs/secret.ts";
import { parseKeyring } from "../../../shared/platform/encryption.ts";
import { mint, mintNow } from "../../../shared/runs/mint.ts";
import type { Drawn } from "../../../shared/runs/minting.ts";
import { templatesBySample } from "../../../shared/templates/index.ts";
import { newSecrets } from "../../stack/settings.ts";

const keys = parseKeyring({ ...(await newSecrets()) });
const secrets = [newSecret(keys).sealed, newSecret(keys).sealed] as const;
const families = [...templatesBySample].slice(0, 5);
const runs = Array.from({ length: 6 }, () => randomUUID());

const sources = fc.record({
  run: fc.constantFrom(...runs),
  family: fc.constantFrom(...families),
  sealed: fc.constantFrom(...secrets),
  place: fc.option(fc.record({ session_id: fc.constantFrom(...runs), number: fc.nat(40) })),
});

describe("what a run is asked", () => {
  it("is the same whatever was minted before, from exactly what it is drawn from", () => {
    fc.assert(
      fc.property(fc.array(sources, { minLength: 2, maxLength: 12 }), (asked) => {
        for (const { run, family, sealed, place } of asked) {
          const [name, { version }] = family;
          const source: Drawn = {
            family: name,
            version,
            is_secret: false,
            epoch: "2026-11-22",
            sealed,
            place: place === null ? null : { ...place, sealed: secrets[0] },
          };
          expect(mintNow(run, source, keys)).toEqual(mint(run, source, keys));
        }
      }),
      { numRuns: 25 },
    );
  });

  it("is minted once for the two times that it is needed, and forgotten after many others", () => {
    const [[family, { version }] = ["", { version: 0 }]] = families;
    const source = { family, version, is_secret: false, epoch: "2026-11-22", sealed: secrets[0], place: null };
    const first = mintNow("run", source, keys);
    for (let other = 0; other < 200; other += 1) mintNow(`other ${other}`, source, keys);
    expect(mintNow("run", { ...source }, keys)).toBe(first);
    for (let other = 0; other < 256; other += 1) mintNow(`another ${other}`, source, keys);
    expect(mintNow("run", source, keys)).not.toBe(first);
  });

  it("needs the key to its secret, though it was minted with it before", async () => {
    const [[family, { version }] = ["", { version: 0 }]] = families;
    const source = { family, version, is_secret: false, epoch: "2026-11-22", sealed: secrets[0], place: null };
    mintNow("run", source, keys);
    const others = parseKeyring({ ...(await newSecrets()) });
    expect(() => mintNow("run", source, others)).toThrow();
  });
});
