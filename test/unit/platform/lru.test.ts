import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createLru } from "../../../shared/platform/lru.ts";

it("keeps what was used last, and never more than it may", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 300 }), fc.integer({ min: 1, max: 10 }), (uses, half) => {
      const lru = createLru<number, { key: number }>(2 * half);
      let last: number[] = [];
      for (const key of uses) {
        const known = lru.get(key);
        expect(known === undefined || known.key === key).toBe(true);
        if (last.slice(0, half).includes(key)) expect(known).toBeDefined();
        if (known === undefined) lru.add(key, { key });
        last = [key, ...last.filter((one) => one !== key)];
      }
      expect(last.slice(2 * half).filter((key) => lru.get(key) !== undefined)).toEqual([]);
    }),
  );
});
