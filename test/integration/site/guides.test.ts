import { afterAll, beforeAll, expect, it } from "vitest";
import { GUIDES } from "../../../functions/site/guides.static.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

async function open(path: string): Promise<{ status: number; text: string; kept: string | null }> {
  const answer = await fetch(service.url + path);
  return { status: answer.status, text: await answer.text(), kept: answer.headers.get("cache-control") };
}

const linksOf = (text: string): string[] =>
  Array.from(text.matchAll(/<a [^>]*href="([^"]+)"/g), ([, href = ""]) => href).filter(
    (href) => !/^https?:/.test(href),
  );

it("lists every guide, and each opens at its address", async () => {
  const list = await open("/docs/guides");
  expect(list.status).toBe(200);
  expect(linksOf(list.text).filter((href) => href.startsWith("/docs/guides/"))).toEqual(
    GUIDES.map(({ name }) => `/docs/guides/${name}`),
  );
  for (const { name, title } of GUIDES) {
    const { status, text, kept } = await open(`/docs/guides/${name}`);
    expect([name, status, kept]).toEqual([name, 200, "public, max-age=300"]);
    expect(text).toContain(`<h1>${title}</h1>`);
  }
});

it("leads from guide to guide, and to sections that there are", async () => {
  for (const { name } of GUIDES) {
    const { text } = await open(`/docs/guides/${name}`);
    for (const href of linksOf(text)) {
      const { pathname, hash } = new URL(href, `${service.url}/docs/guides/${name}`);
      const target = pathname.startsWith("/docs/guides/") ? await open(pathname) : { status: 200, text: "" };
      expect([name, href, target.status]).toEqual([name, href, 200]);
      if (hash !== "") expect(target.text, `${name}: ${href}`).toContain(` id="${hash.slice(1)}"`);
    }
    expect(text, `${name} has a link to a file`).not.toMatch(/href="[^"]*\.(?:md|ts)["#]/);
  }
});

it("names the service by its own address", async () => {
  for (const [path, own] of [
    ["/docs/guides/verify-evidence", "/.well-known/jwks.json"],
    ["/docs/guides", "/mcp"],
  ] as const) {
    const { text } = await open(path);
    expect(text).toContain(service.url + own);
    expect(text).not.toContain("https://SERVICE");
  }
});
