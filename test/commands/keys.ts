/** `npm run keys`: fresh values for the settings that only you may know. The encryption key is named by the day. */
import { newSecrets } from "../stack/settings.ts";

const { SIGNING_KEYS, LOG_SIGNING_KEY, DATA_ENCRYPTION_KEY } = await newSecrets();
const name = new Date().toISOString().slice(0, 10);
console.log(
  `SIGNING_KEYS=${SIGNING_KEYS}\nLOG_SIGNING_KEY=${LOG_SIGNING_KEY}\nDATA_ENCRYPTION_KEYS=${name}:${DATA_ENCRYPTION_KEY}`,
);
