import { readFileSync } from "node:fs";
import { Marked } from "marked";

/** The guides, each a file of Markdown, in the order in which they are listed. */
const FILES = {
  "write-an-agent": "guides/write-an-agent.md",
  "send-telemetry": "guides/send-telemetry.md",
  "receive-webhooks": "guides/receive-webhooks.md",
  ci: "guides/ci.md",
  mcp: "guides/mcp.md",
  "verify-evidence": "guides/verify-evidence.md",
  "the-score": "guides/the-score.md",
  "minted-tasks": "guides/minted-tasks.md",
  instances: "../../shared/templates/README.md",
  certification: "guides/certification.md",
  "your-data": "guides/your-data.md",
  "run-it-yourself": "guides/run-it-yourself.md",
  deploy: "guides/deploy.md",
};

export interface Guide {
  /** The last part of its address. */
  name: string;
  title: string;
  /** Its first paragraph as text. */
  lead: string;
  /** What stands below the title, as HTML. */
  html: string;
  sections: { id: string; title: string }[];
}

const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s+/g, "-");

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Where a link between files leads on the site; what has no page there is shown without a link. */
function placeOf(href: string): string | null {
  if (/^https?:/.test(href) || href.startsWith("#")) return href;
  const [file = "", section] = href.split("#");
  const base = file.slice(file.lastIndexOf("/") + 1);
  const name = Object.entries(FILES).find(
    ([, path]) => path === `guides/${base}` || path === file.slice("../".length),
  )?.[0];
  if (name === undefined) return null;
  return `/docs/guides/${name}${section === undefined ? "" : `#${section}`}`;
}

function guideOf(name: string, markdown: string): Guide {
  const sections: Guide["sections"] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = idOf(text);
        if (depth === 2) sections.push({ id, title: this.parser.parseInline(tokens, this.parser.textRenderer) });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const place = placeOf(href);
        const text = this.parser.parseInline(tokens);
        return place === null ? text : `<a href="${escaped(place)}">${text}</a>`;
      },
      // Wide ones scroll by themselves, by keyboard too.
      table(token) {
        const row = (cells: typeof token.header, tag: "th" | "td") =>
          `<tr>${cells.map(({ tokens }) => `<${tag} class="wide">${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const label = escaped(token.header.map(({ text }) => text).join(", "));
        return `<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${token.rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`;
      },
    },
  });
  const [, title = "", text = ""] = /^# (.*)\n([^]*)$/.exec(markdown) ?? [];
  const html = marked.parse(text, { async: false });
  const lead = (/<p>([^]*?)<\/p>/.exec(html)?.[1] ?? "").replaceAll(/<[^>]+>/g, "").replaceAll("\n", " ");
  return { name, title, lead, html, sections };
}

/** Every guide, rendered when the service is built. */
export const GUIDES: Guide[] = Object.entries(FILES).map(([name, path]) =>
  guideOf(name, readFileSync(new URL(path, import.meta.url), "utf8")),
);
