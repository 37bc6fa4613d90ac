import * as z from "zod";
import { LeaderboardRow } from "../../shared/board/shown.ts";
import { type Reply, verbatim } from "../../shared/http/reply.ts";
import { ListingRead } from "../../shared/marketplace/shown.ts";
import { GUIDES } from "./guides.static.ts";
import { COPY_SOURCE } from "./parts/copy.ts";
import { LIVE_SOURCE } from "./parts/live.ts";
import { scriptView } from "./parts/script.ts";
import { TIMES_SOURCE } from "./parts/times.ts";
import { type View, type Visit, view } from "./parts/view.ts";

/** What browsers and machines ask every site for. */

const DAY_MS = 86_400_000;
/** RFC 9116 wants a date that is less than a year away. */
const SECURITY_DAYS = 180;
const MOST = 100;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#245fc9"/><path d="M7 24V17h4v7zM14 24V12h4v12zM21 24V7h4v17z" fill="#fff"/></svg>`;

const file = (text: string, type: string): Reply => verbatim(text, type, { "Cache-Control": "public, max-age=3600" });

/** Only what is public and worth finding; the pages of an account say nothing to a stranger. */
function robots({ ctx }: Visit): Reply {
  const closed = [
    "/api/",
    "/home",
    "/settings",
    "/device",
    "/sessions/",
    "/agents/new",
    "/billing",
    "/workspaces",
    "/scorecards",
    "/admin",
    "/compare?",
    "/marketplace/purchases/",
  ].map((path) => `Disallow: ${path}`);
  const lines = ["User-agent: *", ...closed, "", `Sitemap: ${ctx.env.BASE_URL}/sitemap.xml`, ""];
  return file(lines.join("\n"), "text/plain; charset=utf-8");
}

/** Pages for everybody that are worth finding; the reference's parts are found from its first page. */
const OPEN = [
  "/",
  "/suites",
  "/compare",
  "/marketplace",
  "/verify",
  "/log",
  "/docs",
  "/docs/changelog",
  "/docs/guides",
  ...GUIDES.map(({ name }) => `/docs/guides/${name}`),
  "/pricing",
  "/terms",
  "/privacy",
  "/status",
  "/sign-up",
];

const Board = z.object({ items: z.array(LeaderboardRow.pick({ agent_id: true })) });
const Listings = z.object({ items: z.array(ListingRead.pick({ id: true })) });

/** The pages for everybody, those of the agents at the board's top, and of the newest ones for hire. */
async function sitemap({ api, ctx }: Visit): Promise<Reply> {
  const [board, listings] = await Promise.all([
    api.read(`/api/v1/leaderboard?page_size=${MOST}`, Board),
    api.read(`/api/v1/marketplace/listings?page_size=${MOST}`, Listings),
  ]);
  const paths = [
    ...OPEN,
    ...board.items.map(({ agent_id }) => `/agents/${agent_id}`),
    ...listings.items.map(({ id }) => `/marketplace/${id}`),
  ];
  const urls = paths.map((path) => `  <url><loc>${ctx.env.BASE_URL}${path}</loc></url>`);
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join("\n")}
</urlset>
`;
  return file(text, "application/xml; charset=utf-8");
}

/** RFC 9116, with the mailbox that RFC 2142 has for it, at the domain that the service sends its mails from. */
function security({ ctx: { env, now } }: Visit): Reply {
  // From midnight, so that the file stays the same for a day.
  const today = Math.floor(now().getTime() / DAY_MS);
  const expires = new Date((today + SECURITY_DAYS) * DAY_MS).toISOString();
  const address = /<([^>]+)>/.exec(env.EMAIL_FROM)?.[1] ?? env.EMAIL_FROM;
  const contact = `mailto:security@${address.slice(address.lastIndexOf("@") + 1)}`;
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    "Preferred-Languages: en",
    `Canonical: ${env.BASE_URL}/.well-known/security.txt`,
    "",
  ];
  return file(lines.join("\n"), "text/plain; charset=utf-8");
}

export const filePages: readonly View[] = [
  view({ path: "/favicon.svg", title: "The icon", show: () => file(ICON, "image/svg+xml") }),
  scriptView("/live.js", "The script of pages that go on changing", LIVE_SOURCE),
  scriptView("/times.js", "The script that tells times by the reader's clocks", TIMES_SOURCE),
  scriptView("/copy.js", "The script that copies", COPY_SOURCE),
  view({ path: "/robots.txt", title: "What crawlers may read", show: robots }),
  view({ path: "/sitemap.xml", title: "What there is to read", show: sitemap }),
  view({ path: "/.well-known/security.txt", title: "Whom to tell of a weakness", show: security }),
  view({
    path: "/.well-known/change-password",
    title: "Where a password is changed",
    show: ({ c }) => c.redirect("/settings/password", 302),
  }),
];
