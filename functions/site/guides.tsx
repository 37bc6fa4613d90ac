import type { Reply } from "../../shared/http/reply.ts";
import { raw } from "hono/html";
import { GUIDES, type Guide } from "./guides.static.ts";
import { Layout } from "./layout.tsx";
import { lasting } from "./parts/lasting.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

/** Stands in the guides for the service's own address. */
const ADDRESS = "https://SERVICE";

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

/** A text of the guides, with this service's address in it. */
const addressed = (text: string, { ctx }: Visit) => text.replaceAll(ADDRESS, ctx.env.BASE_URL);

function showList(visit: Visit): Reply {
  return lasting(
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
          <p>{raw(addressed(lead, visit))}</p>
        </>
      ))}
    </Layout>,
  );
}

function showGuide(visit: Visit, { title, lead, html, sections }: Guide): Reply {
  return lasting(
    <Layout title={title} told={raw(addressed(lead, visit))}>
      <p>
        <a href="/docs/guides">Guides</a>
      </p>
      <h1>{title}</h1>
      <Contents sections={sections} />
      {raw(addressed(html, visit))}
    </Layout>,
  );
}

export const guidePages: readonly View[] = [
  view({ path: "/docs/guides", title: "Guides", show: showList }),
  ...GUIDES.map((guide) =>
    view({ path: `/docs/guides/${guide.name}`, title: guide.title, show: (visit) => showGuide(visit, guide) }),
  ),
];
