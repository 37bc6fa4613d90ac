import { describe, expect, test } from "vitest";
import { ADVICE } from "../../functions/document/advice.ts";
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

const advice = Object.values(ADVICE).join(" ");
/** What the advice on problems sends people to, and what it has programs call. */
const advised = [...advice.matchAll(/(?:([A-Z]+) |`)(\/[\w/-]+)/g)].map(([, method, path = ""]) =>
  method === undefined ? path : `${method} ${path}`,
);

describe("the pages that mails and redirects lead to", () => {
  test.each(LED_TO)("%s is one of this service's own", (path) => {
    expect(shown).toContain(shape(path));
  });

  test("are named in one list, by which every address of the frontend is made", () => {
    const reading = modules().filter(({ text }) => text.includes("FRONTEND_URL"));
    expect(reading.map(({ path }) => path)).toEqual(READERS.map((path) => `shared/${path}`));
  });
});

test("the advice on a problem leads to what there is", () => {
  expect(advised).not.toEqual([]);
  const called = ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${shape(path)}`);
  expect(advised.filter((place) => ![...shown, ...called].includes(place))).toEqual([]);
});
