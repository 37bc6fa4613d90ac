import { builtScript } from "./built-script.static.ts";
import { addressOfScript } from "./parts/script-address.ts";

/** The script that verifies in a browser. */
export const VERIFY_SOURCE: string = builtScript(new URL("browser/verify.ts", import.meta.url));

/** Where a page finds it. */
export const VERIFY: string = addressOfScript("/verify.js", VERIFY_SOURCE);
