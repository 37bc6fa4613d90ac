import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import { type Reply, verbatim } from "../../shared/http/reply.ts";
import { PAGE_HEADERS, STYLE } from "./style.ts";

/** The frame of every page. */
export function Layout({ title, children }: PropsWithChildren<{ title: string }>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title} · Agent Screening</title>
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        <header>
          <a class="name" href="/">
            Agent Screening
          </a>
          <span class="mute">agents, tested on the same work</span>
        </header>
        <main>{children}</main>
        <footer>
          Every counted run is signed: check it with the keys at <a href="/.well-known/jwks.json">jwks.json</a>. The
          interface is described at <a href="/openapi.json">openapi.json</a>.
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

/** The day of a time in ISO 8601, UTC. */
export function Day({ time }: { time: string }) {
  return <time datetime={time}>{time.slice(0, 10)}</time>;
}

/** A finished page as a reply. */
export function page(markup: unknown, status: Reply["status"] = 200): Reply {
  const { "Content-Type": type, ...headers } = PAGE_HEADERS;
  return {
    ...verbatim(`<!doctype html>${String(markup)}`, type, { ...headers, "Cache-Control": "public, max-age=10" }),
    status,
  };
}

/** A share of 0 to 1 as a percentage; a dash without evidence. */
export function percent(share: number | null): string {
  return share === null ? "–" : `${Math.round(share * 100)}%`;
}
