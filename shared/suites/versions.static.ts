import { samples } from "../templates/index.ts";
import { sealedTemplates } from "./secret/index.ts";

const sealed = [...sealedTemplates].map(([name, { id, version }]) => [name, { id, version }] as const);

/** Id and version of each template by what a task finds it by: all that statements need to know of the templates. */
export const VERSIONS: Readonly<Record<string, { id: string; version: number }>> = {
  ...samples,
  ...Object.fromEntries(sealed),
};
