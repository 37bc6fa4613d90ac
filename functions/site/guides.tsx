import { raw } from "hono/html";
import { GUIDES, type Guide } from "./guides.static.ts";
import { documentOf, Layout } from "./layout.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import { PAGE_HEADERS } from "./style.ts";

/** Stands in the guides for the service's own address. */
const ADDRESS = "https://SERVICE";

/** A guide is the same for everybody, so a browser and what lies between may keep it for a while. */
function forAll({ c }: Visit, markup: unknown): Response {
  return c.newResponse(documentOf(markup), { headers: { ...PAGE_HEADERS, "Cache-Control": "public, max-age=300" } });
}

function Contents({ sections }: Pick<Guide, "sections">) {
  if (sections.length < 2) return null;
  return (
    <nav aria-label="On this page">
      <ul>
        {sections.map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{raw(title)}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function showList(visit: Visit): Response {
  return forAll(
    visit,
    <Layout title="Guides">
      <h1>Guides</h1>
      <p>
        How to do what people come here for. Each request and answer is described in <a href="/docs">the reference</a>.
      </p>
      {GUIDES.map(({ name, title, lead }) => (
        <>
          <h2>
            <a href={`/docs/guides/${name}`}>{title}</a>
          </h2>
          <p>{raw(lead)}</p>
        </>
      ))}
    </Layout>,
  );
}

function showGuide(visit: Visit, { title, html, sections }: Guide): Response {
  return forAll(
    visit,
    <Layout title={title}>
      <p>
        <a href="/docs/guides">Guides</a>
      </p>
      <h1>{title}</h1>
      <Contents sections={sections} />
      {raw(html.replaceAll(ADDRESS, visit.ctx.env.BASE_URL))}
    </Layout>,
  );
}

export const guidePages: readonly View[] = [
  view({ path: "/docs/guides", title: "Guides", show: showList }),
  ...GUIDES.map((guide) =>
    view({ path: `/docs/guides/${guide.name}`, title: guide.title, show: (visit) => showGuide(visit, guide) }),
  ),
];
