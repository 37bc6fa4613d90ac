import { expect, it } from "vitest";
import { verify } from "../../../shared/verify/verify.ts";
import { honest, NOON, readerOf } from "./support.ts";

it("is refused where it shows another place in the log than that of the proof which is read for it", async () => {
  const served = await honest();
  const { jws, logKey } = served;
  const by = async (log: object | null) => {
    const options = { now: NOON, jwks: JSON.stringify(served.jwks), logKey, get: readerOf(served) };
    const { verified, failed, index } = await verify(JSON.stringify({ jws, log }), options);
    return [verified, failed, index];
  };
  expect(await by(null)).toEqual([true, null, 300]);
  expect(await by({ index: 300, proof: null })).toEqual([true, null, 300]);
  expect(await by({ index: 3, proof: null })).toEqual([false, "proof", null]);
});
