/** `npm run keys`: fresh values for the settings that only you may know. */
import { newSecrets } from "./settings.ts";

const { SIGNING_KEYS, DATA_ENCRYPTION_KEY } = await newSecrets();
console.log(`SIGNING_KEYS=${SIGNING_KEYS}\nDATA_ENCRYPTION_KEY=${DATA_ENCRYPTION_KEY}`);
