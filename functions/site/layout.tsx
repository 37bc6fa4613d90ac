import type { Context as HonoContext } from "hono";
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import { type Reply, verbatim } from "../../shared/http/reply.ts";
import { Nav, Ways } from "./parts/nav.tsx";
import { ACCOUNT, accountOf } from "./parts/signed-in.ts";
import { PAGE_HEADERS, STYLE } from "./style.ts";
import { TIMES } from "./parts/times.ts";

/** Where the head of a page leads: everybody, and somebody who is signed in. */
const OPEN = [
  ["/", "Board"],
  ["/suites", "Suites"],
  ["/compare", "Compare"],
  ["/docs", "Docs"],
  ["/pricing", "Pricing"],
  ["/home", "My agents"],
  ["/sign-up", "Sign up"],
] as const;
const SIGNED_IN = [
  ["/home", "My agents"],
  ["/agents/new", "New agent"],
  ["/", "Board"],
  ["/workspaces", "Workspaces"],
  ["/marketplace", "Marketplace"],
  ["/docs", "Docs"],
  ["/settings", "Settings"],
] as const;
/** What every page leads to at its end. */
const FOOT = [
  ["/verify", "Verify"],
  ["/log", "Log"],
  ["/status", "Status"],
  ["/terms", "Terms"],
  ["/privacy", "Privacy"],
  ["/openapi.json", "OpenAPI"],
  ["/.well-known/jwks.json", "Keys"],
] as const;

interface LayoutProps {
  title: string;
  /** The path of a page that belongs to somebody who is signed in. */
  own?: string;
  /** The path under which a page for everybody stands in the head. */
  at?: string;
  /** Where the page's script is. */
  script?: string;
  /** What the page has, in a sentence or two, for whoever finds it in a search or gets its address passed on. */
  told?: string | ReturnType<typeof raw>;
  /** The page's address, without what marked the way to it. */
  address?: string;
  /** The address of a picture to show wherever somebody passes the page's address on. */
  picture?: string;
}

const SITE =
  "Screens AI agents: asks each the same tasks, ranks them by what they answer, and signs every run that counts.";

/** What is shown of a page wherever somebody passes its address on (ogp.me; X wants its own word for a card, too). */
function PassedOn({ title, told, address, picture }: Pick<LayoutProps, "title" | "told" | "address" | "picture">) {
  return (
    <>
      {told !== undefined && <meta name="description" content={told} />}
      <meta property="og:title" content={title} />
      <meta property="og:description" content={told ?? SITE} />
      <meta property="og:site_name" content="Agent Screening" />
      <meta property="og:type" content="website" />
      {address !== undefined && (
        <>
          <link rel="canonical" href={address} />
          <meta property="og:url" content={address} />
        </>
      )}
      {picture !== undefined && <meta property="og:image" content={picture} />}
      <meta name="twitter:card" content="summary" />
    </>
  );
}

/** The frame of every page. */
export function Layout({ own, at = own, script, children, ...about }: PropsWithChildren<LayoutProps>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{about.title} · Agent Screening</title>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        {own === undefined && <PassedOn {...about} />}
        <style>{raw(STYLE)}</style>
        {script !== undefined && <script type="module" src={script} />}
        <script type="module" src={TIMES} />
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header>
          <a class="name" href="/">
            Agent Screening
          </a>
          <nav aria-label="Site">
            <ul>
              <Ways ways={own === undefined ? OPEN : SIGNED_IN} current={at} />
              {own !== undefined && (
                <li>
                  <form method="post" action="/sign-out">
                    <button type="submit">Sign out</button>
                  </form>
                </li>
              )}
            </ul>
          </nav>
        </header>
        <main id="content">{children}</main>
        <footer>
          <p>Every counted run is signed, and can be checked with the keys alone.</p>
          <Nav label="About" ways={FOOT} />
        </footer>
      </body>
    </html>
  );
}

/** A share of 0 to 1 as a bar, with the interval it lies in where that is known. */
export function Bar({ value, low, high, label }: { value: number; low?: number; high?: number; label: string }) {
  const x = (share: number) => Math.round(Math.min(1, Math.max(0, share)) * 1600) / 10;
  return (
    <svg width="160" height="14" viewBox="0 0 160 14" role="img" aria-label={label}>
      <rect class="track" width="160" height="14" rx="3" />
      {low !== undefined && high !== undefined && (
        <rect class="range" x={x(low)} width={x(high) - x(low)} height="14" rx="3" />
      )}
      {low === undefined ? (
        <rect class="value" width={x(value)} height="14" rx="3" />
      ) : (
        <rect class="value" x={Math.max(0, x(value) - 1.5)} width="3" height="14" />
      )}
    </svg>
  );
}

/** The day of a time in ISO 8601, UTC; where scripts run, the page's own tells it by the reader's clocks. */
export function Day({ time }: { time: string }) {
  return (
    <time datetime={time} data-day="">
      {time.slice(0, 10)}
    </time>
  );
}

/** The text of a whole page. */
export function documentOf(markup: unknown): string {
  return `<!doctype html>${String(markup)}`;
}

/** A finished page as a reply. */
export function page(markup: unknown, status: Reply["status"] = 200): Reply {
  const { "Content-Type": type, ...headers } = PAGE_HEADERS;
  return {
    ...verbatim(documentOf(markup), type, { ...headers, "Cache-Control": "public, max-age=10" }),
    status,
  };
}

/** A form that is sent for an account: all but those by which one signs in, or out. */
const FORM = /<form method="post" action="(?!\/sign-)[^>]*>/g;

/**
 * A page for one visitor alone, which no cache keeps; with the cookies that were set on the way. Its forms say whom they were
 * shown to: another tab may have signed in as somebody else before they are sent.
 */
export function personal(c: HonoContext, markup: unknown, status: Reply["status"] = 200): Response {
  const [text, account] = [documentOf(markup), accountOf(c)];
  const field = `$&<input type="hidden" name="${ACCOUNT}" value="${account}"/>`;
  return c.newResponse(account === null ? text : text.replace(FORM, field), {
    status,
    headers: { ...PAGE_HEADERS, "Cache-Control": "no-store" },
  });
}

/** Sends the browser on to another page of this service. */
export function sendTo(c: HonoContext, path: string): Response {
  c.header("Cache-Control", "no-store");
  return c.redirect(path, 303);
}

/** A share of 0 to 1 as a percentage; a dash without evidence. */
export function percent(share: number | null): string {
  return share === null ? "–" : `${Math.round(share * 100)}%`;
}

/** How many variants a group has, in words; `variants` counts up to 100. */
export function variantsOf({ variants }: { variants: number }): string {
  return variants === 1 ? "1 variant" : `${variants}${variants < 100 ? "" : " or more"} variants`;
}
