import { readFileSync } from "node:fs";
import { ADDRESS } from "../openapi-document.static.ts";
import { ROUTES } from "../routes.ts";
import { changesOf } from "./changes.ts";
import { interfaceDocument } from "./document.ts";
import { promisesOf, readPromises } from "./promises.ts";

const RELEASED = new URL("released/interface.txt", import.meta.url);
const document = interfaceDocument(ROUTES, ADDRESS);

/** What the interface has beyond the released one, found anew whenever the service is built. */
export const CHANGES = changesOf(readPromises(readFileSync(RELEASED, "utf8")), promisesOf(document));
