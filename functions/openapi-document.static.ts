import { interfaceDocument } from "./document/document.ts";
import { withSharedAnswers } from "./document/shared-answers.ts";
import { ROUTES } from "./routes.ts";

/** Stands in the document for the service's own address, which is known where it runs. */
export const ADDRESS = "https://address.invalid";

/** The OpenAPI document as it is sent, but for the address. */
export const DOCUMENT = JSON.stringify(withSharedAnswers(interfaceDocument(ROUTES, ADDRESS)));
