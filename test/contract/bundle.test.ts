import { execFileSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Stripe } from "stripe";
import { beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import type { Application } from "../../functions/app.ts";
import { GROUPS } from "../../functions/groups.ts";
import { PAGE_PLACES } from "../../functions/places.static.ts";
import { ROUTES } from "../../functions/routes.ts";
import { PAYMENT_RESOURCES } from "../../shared/billing/stripe.ts";
import { SESSION_COOKIE } from "../../shared/http/cookie-names.ts";
import { interfaceDocument } from "../../functions/document/document.ts";
import { withSharedAnswers } from "../../functions/document/shared-answers.ts";
import { LONGEST_MODULE, loadedWith, SIZES, sizes } from "../commands/bundle.ts";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";
import { modulesOf } from "../stack/worker/deployment.ts";
import { buildWorker } from "../stack/worker/worker.ts";
import { BASE_URL } from "./sealed.ts";

const named = ROUTES.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const);
const Worker = z.object({ default: z.object({ fetch: z.custom<Application["fetch"]>() }) });

const Sdk = z.object({ default: z.custom<typeof Stripe>() });

const nowhere = "http://127.0.0.1:9";
const settings = {
  ...DEVELOPMENT,
  ...(await newSecrets()),
  BASE_URL,
  FRONTEND_URL: BASE_URL,
  DATABASE_URL: "postgres://nobody@127.0.0.1:9/nothing",
  UPSTASH_REDIS_REST_URL: nowhere,
  QSTASH_URL: nowhere,
  DNS_RESOLVER_URL: nowhere,
};
const ASSETS = { fetch: async () => new Response("a file") };
const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

/** What Hono answers with where no endpoint is, and what the service does where one can't be loaded. */
const MISSED = [404, 405, 500];

let entry = "";
let ask: (method: string, path: string, headers?: Record<string, string>) => Promise<Response>;

beforeAll(async () => {
  // It tells its log that nothing is behind it.
  vi.spyOn(console, "log").mockReturnValue();
  entry = await buildWorker();
  const worker = Worker.parse(await import(/* @vite-ignore */ pathToFileURL(entry).href)).default;
  ask = async (method, path, headers = {}) => {
    const url = BASE_URL + path.replaceAll(/\{\w+\}/g, "01938e7a-0000-7000-8000-000000000003");
    return worker.fetch(new Request(url, { method, headers }), { ...settings, ASSETS }, execution);
  };
}, 180_000);

test("what is loaded when the Worker starts, and all of it, is within its limits", () => {
  const { atStart, all } = sizes(dirname(entry));
  expect(atStart).toBeLessThanOrEqual(SIZES.atStart);
  expect(all).toBeLessThanOrEqual(SIZES.all);
  expect(atStart).toBeLessThan(all / 2);
});

test("a start and a first answer make no code of text", () => {
  const text = `const made = [];
    globalThis.Function = new Proxy(Function, { construct: (of, given) => (made.push(given), Reflect.construct(of, given)) });
    const { default: worker } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    const execution = { waitUntil() {}, passThroughOnException() {}, props: {} };
    console.log = () => undefined;
    const answer = await worker.fetch(new Request("${BASE_URL}/api/v1/agents?page=x"), ${JSON.stringify(settings)}, execution);
    const { detail } = await answer.json();
    process.stdout.write(JSON.stringify([answer.status, detail, made]));
    process.exit();`;
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" });
  expect(JSON.parse(told)).toEqual([422, "/page: Give a whole number from 1 to 1000000000.", []]);
});

test("no module of code is so long that it must be data", () => {
  const lengths = modulesOf(entry).flatMap(({ type, path }) => (type === "ESModule" ? statSync(path).size / 1024 : []));
  expect(lengths.length).toBeGreaterThan(100);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(LONGEST_MODULE);
});

/** Much code, each for a few requests alone. */
const HEAVY = ["re2js", "tldts", "stripe", "graphql", "jose", "shared/templates/core", "shared/suites/secret"];

/** The endpoints that are loaded with some of that: as few as can be, since their first request waits for it. */
const NEEDED = {
  "agents/integrations": ["jose"],
  "agents/readiness": ["jose"],
  "agents/registry": ["tldts"],
  "catalogue/new-submissions": ["re2js"],
  "catalogue/new-tasks": ["re2js"],
  "catalogue/secret-suites": ["shared/suites/secret"],
  "payments/credential": ["jose"],
  "public/log": ["jose"],
  "public/well-known": ["jose"],
  "runs/evidence": ["jose"],
  "runs/run-evidence": ["jose"],
};

/** What takes a while to evaluate, though it is short, and the endpoints that are loaded with it. */
const DEAR = {
  "shared/agents/schemas.ts": ["agents/edit-agents", "agents/integrations", "agents/manage", "agents/registry"],
  "shared/runs/submit.ts": ["runs/submit"],
};

/** What a domain declares of what requests bring. */
const BROUGHT = /^shared\/.*schemas\.ts$/;

/** What only an endpoint or a consumer does, and what takes a while to build. */
const DONE = /^shared\/(?:runs\/(?:call|probe|submit)|runs\/protocols\/index|grading\/(?:grade|schema))\.ts$/;

function heavyWith(source?: string): string[] {
  const { sources } = loadedWith(dirname(entry), source);
  return HEAVY.filter((part) =>
    sources.some((one) => one.startsWith(part.includes("/") ? `${part}/` : `node_modules/${part}/`)),
  );
}

describe("what is heavy", () => {
  test("is not loaded when the Worker starts", () => {
    expect(heavyWith()).toEqual([]);
  });

  test("is left out where nothing can need it: the database is never spoken to over a socket", () => {
    const code = modulesOf(entry).map(({ path }) => readFileSync(path, "utf8"));
    expect(code.some((text) => text.includes("Neon-Connection-String"))).toBe(true);
    expect(code.filter((text) => text.includes("SCRAM-SERVER-FIRST-MESSAGE"))).toEqual([]);
  });

  test("is left out where nobody asks for it: of the payment provider's SDK all stays that is asked for", async () => {
    const [name = ""] = globSync("parts/stripe.esm.worker-*.js", { cwd: dirname(entry) });
    const path = join(dirname(entry), name);
    const bundled = Sdk.parse(await import(/* @vite-ignore */ pathToFileURL(path).href)).default;
    const methodsOf = (resource: object): string[] =>
      Object.values({ resource, ...resource }).flatMap((one) =>
        typeof one === "object" && one !== null ? Object.getOwnPropertyNames(Object.getPrototypeOf(one)) : [],
      );
    for (const one of PAYMENT_RESOURCES) {
      const methods = methodsOf(new Stripe("sk_test_1")[one]);
      expect(methods.length, one).toBeGreaterThan(1);
      expect(methodsOf(new bundled("sk_test_1")[one]), one).toEqual(methods);
    }
    expect(statSync(path).size).toBeLessThan(120_000);
  });

  test("is left out where documents alone tell it: what endpoints and schemas say of themselves", () => {
    const code = modulesOf(entry).flatMap(({ type, path }) =>
      type === "ESModule" ? [readFileSync(path, "utf8")] : [],
    );
    const said = ROUTES.flatMap(({ summary, query, body }) => [summary, query?.description, body?.description]);
    const words = said.filter((text) => text !== undefined && text.length > 20);
    expect(words.length).toBeGreaterThan(80);
    expect(words.filter((text) => code.some((one) => one.includes(JSON.stringify(text).slice(1, -1))))).toEqual([]);
  });

  test("is loaded with the endpoints alone that can't do without", () => {
    const found = Object.keys(GROUPS).map((group) => [group, heavyWith(`functions/${group}.ts`)] as const);
    expect(Object.fromEntries(found.filter(([, parts]) => parts.length > 0))).toEqual(NEEDED);
  });

  test.each(Object.entries(DEAR))("%s is loaded with those alone, too", (source, groups) => {
    const loaded = (group: string) => loadedWith(dirname(entry), `functions/${group}.ts`).sources.includes(source);
    expect(Object.keys(GROUPS).filter(loaded).toSorted()).toEqual(groups);
  });

  test("is not loaded with endpoints that only read, as far as it is for what requests bring", async () => {
    const all = await Promise.all(Object.entries(GROUPS).map(async ([group, load]) => [group, await load()] as const));
    const reading = all.filter(([, routes]) => routes.every(({ method }) => method === "get")).map(([group]) => group);
    expect(reading).toEqual(
      expect.arrayContaining([
        "account/me",
        "agents/agents",
        "catalogue/tasks",
        "runs/runs",
        "workspaces/members",
        "workspaces/teams",
      ]),
    );
    const brought = (group: string) =>
      loadedWith(dirname(entry), `functions/${group}.ts`).sources.filter((one) => BROUGHT.test(one));
    expect(reading.flatMap(brought)).toEqual([]);
  });

  test("is not loaded with pages, as far as they ask an endpoint for it", () => {
    const pages = [...new Set(PAGE_PLACES.map(({ group }) => group))];
    const done = (page: string) =>
      loadedWith(dirname(entry), `functions/${page}.ts`).sources.filter((one) => DONE.test(one));
    // These show a proposed task as it was written, its grader among that.
    const proposed = ["site/proposals", "site/admin-suite"];
    expect(pages.flatMap(done)).toEqual(proposed.map(() => "shared/grading/schema.ts"));
    expect(proposed.flatMap(done)).toEqual(pages.flatMap(done));
  });
});

const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, "{}");

describe("the endpoints that the bundle knows before it loads them", () => {
  test("are those that are declared", async () => {
    for (const { path } of ROUTES) {
      const answer = await ask("PUT", path);
      const same = ROUTES.filter((route) => shapeOf(route.path) === shapeOf(path));
      const methods = same.flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]));
      const allow = answer.headers.get("allow")?.split(", ").toSorted();
      expect({ path, status: answer.status, allow }).toEqual({
        path,
        status: 405,
        allow: [...new Set(methods)].toSorted(),
      });
    }
  });

  test.each(named)("%s is loaded when it is asked for", async (_name, { method, path }) => {
    const { status } = await ask(method.toUpperCase(), path);
    expect(MISSED).not.toContain(status);
  });
});

describe("the pages for people", () => {
  const pages = PAGE_PLACES.map(({ method, path }) => [`${method.toUpperCase()} ${path}`, method, path] as const);

  test("are at paths of their own", () => {
    const places = [...named.map(([name]) => name), ...pages.map(([name]) => name)];
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
    expect(pages.length).toBeGreaterThan(20);
  });

  test.each(pages)("%s is loaded when it is asked for", async (_name, method, path) => {
    // A session that is over is taken up again, also where strangers find nothing.
    const { status } = await ask(method.toUpperCase(), path, { cookie: `${SESSION_COOKIE}=over` });
    expect(MISSED).not.toContain(status);
  });
});

test("the OpenAPI document of the bundle is that of the routes, at the service's own address", async () => {
  const answer = await ask("GET", "/openapi.json");
  expect(answer.status).toBe(200);
  const document = withSharedAnswers(interfaceDocument(ROUTES, BASE_URL));
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(document)));
});
