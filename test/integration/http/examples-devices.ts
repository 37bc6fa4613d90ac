import { SAMPLES } from "../../../functions/document/samples.ts";
import type { Prepare } from "./examples-preparations.ts";
import type { World } from "./examples-world.ts";

const API = "/api/v1/auth/device";
const [USER_CODE, DEVICE_CODE] = [String(SAMPLES["user_code"]), String(SAMPLES["device_code"])];

/** What the examples call the two codes of a program, with those that this one got. */
async function asking({ anonymous }: World): Promise<Record<string, string>> {
  const { body, text } = await anonymous.call("POST", API, { client_name: "ada-laptop" });
  if (body.user_code === undefined) throw new Error(text);
  return { [USER_CODE]: body.user_code, [DEVICE_CODE]: body.device_code };
}

/** A program that asks for a key, and for the last example one that is let in. */
export const DEVICES: Readonly<Record<string, Prepare>> = {
  readDevice: async (world) => ({ values: await asking(world) }),
  decideDevice: async (world) => ({ values: await asking(world) }),
  redeemDevice: async (world) => {
    const values = await asking(world);
    await world.owner.call("POST", `${API}/decision`, { user_code: values[USER_CODE], allow: true });
    return { values };
  },
};
