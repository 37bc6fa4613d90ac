import { IDS, SAMPLES } from "../../../functions/document/samples.ts";
import { newAuthenticator } from "../../stack/authenticator.ts";
import { newUser, type User } from "../../stack/client.ts";
import type { Prepare } from "./examples-preparations.ts";
import type { World } from "./examples-world.ts";

const API = "/api/v1/users/me/passkeys";
const ID = String(SAMPLES["credential.id"]);

/** What the examples call the parts of an answer, with those of this one. */
function parts(answer: { id: string; response: Record<string, unknown> }, schema: string): Record<string, string> {
  const of = (name: string) =>
    String(SAMPLES[`${schema}.credential.response.${name}`] ?? SAMPLES[`credential.response.${name}`] ?? SAMPLES[name]);
  const texts = Object.entries(answer.response).flatMap(([name, value]) =>
    typeof value === "string" ? [[of(name), value] as const] : [],
  );
  return { [ID]: answer.id, ...Object.fromEntries(texts) };
}

async function made({
  service,
}: World): Promise<{ by: User; authenticator: ReturnType<typeof newAuthenticator>; id: string }> {
  const by = await newUser(service);
  const authenticator = newAuthenticator(service.url);
  const { body } = await by.call("POST", `${API}/options`);
  const added = await by.call("POST", API, { name: "one", credential: authenticator.create(body) });
  return { by, authenticator, id: added.body.id };
}

/** Accounts with passkeys, and devices that have them. */
export const PASSKEYS: Readonly<Record<string, Prepare>> = {
  addPasskey: async ({ service }) => {
    const by = await newUser(service);
    const { body } = await by.call("POST", `${API}/options`);
    return { by, values: parts(newAuthenticator(service.url).create(body), "PasskeyCreate") };
  },
  removePasskey: async (world) => {
    const { by, id } = await made(world);
    return { by, values: { [IDS.other]: id } };
  },
  signInByPasskey: async (world) => {
    const { authenticator } = await made(world);
    const { body } = await world.anonymous.call("POST", "/api/v1/auth/passkeys/options");
    return { values: parts(authenticator.get(body), "PasskeySignIn") };
  },
};
