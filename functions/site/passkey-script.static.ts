import { builtScript } from "./built-script.static.ts";
import { addressOfScript } from "./parts/script-address.ts";

/** The script that asks the browser for passkeys. */
export const PASSKEY_SOURCE: string = builtScript(new URL("browser/passkeys.ts", import.meta.url));

/** Where a page finds it. */
export const PASSKEY: string = addressOfScript("/passkeys.js", PASSKEY_SOURCE);
