import { describe, expect, test } from "vitest";
import { PAGES } from "../../functions/pages.ts";
import { ROUTES } from "../../functions/routes.ts";
import { LED_TO } from "../../shared/platform/frontend.ts";
import { modules } from "./sources.ts";

/** Who reads the frontend's address: what makes addresses of its pages, and what never calls it. */
const READERS = [
  "mail/render.ts",
  "mail/send.ts",
  "platform/env.ts",
  "platform/frontend.ts",
  "platform/outbound/policy.ts",
];

const shape = (path: string): string => path.replaceAll(/\{\w+\}/g, "{}");
const pages = (await Promise.all(Object.values(PAGES).map((load) => load()))).flat();
const shown = [...pages, ...ROUTES.filter(({ method }) => method === "get")].map(({ path }) => shape(path));

describe("the pages that mails and redirects lead to", () => {
  test.each(LED_TO)("%s is one of this service's own", (path) => {
    expect(shown).toContain(shape(path));
  });

  test("are named in one list, by which every address of the frontend is made", () => {
    const reading = modules().filter(({ text }) => text.includes("FRONTEND_URL"));
    expect(reading.map(({ path }) => path)).toEqual(READERS.map((path) => `shared/${path}`));
  });
});
