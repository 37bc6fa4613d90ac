import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent } from "../runs/support.ts";

/** Names with all that a pattern or a pattern's index might trip over. */
const NAMES = [
  ["Support bot", "support", "SUPPORTER", "Bot", "50% off", "500 off", "a_b", "aXb", "back\\slash", "back/slash"],
  ["Größe", "GRÖSSE", "東京都ボット", "東京", "🤖 robot", "  padded", "-- drop", "'quoted'", "o'neill", "über-agent"],
].flat();
const SEARCHES = [
  ["bot", "SUPPORT", "sup", "su", "s", "50%", "0%", "%", "_", "a_b", "\\", "k\\s", "/s", "größe", "GRÖ", "東京", "京"],
  ["🤖", "padded", "--", "'", "o'n", "oneill", "agent", "port b", "upp", "nothing of the kind", "filler 4", "filler"],
].flat();
/** Newer than all others, better on the board, and more than are looked through. */
const FILLERS = 5200;

let service: TestService;
let owner: User;
let anonymous: Caller;
let all: {
  id: string;
  name: string;
  title: string;
  user_id: string;
  is_public: boolean;
  verified: boolean;
  place: number | null;
}[];

beforeAll(async () => {
  service = await startService();
  const other = await newUser(service, { plan: "enterprise" });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  for (const [index, name] of NAMES.entries()) await addAgent(owner, { name, is_public: index % 7 !== 3 });
  await service.sql(
    `insert into agents (user_id, name, connection_mode, verified_state, created_at)
     select $1, 'Filler ' || n, 'mock', 'verified', now() + n * interval '1 second' from generate_series(1, ${FILLERS}) n`,
    [other.id],
  );
  await service.sql(
    `insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, score_low, score_high, success_rate,
        reliability, cost_efficiency, correctness, robustness, runs, tasks, last_run_at, listed, verified)
     select a.id, 'all', 'all', case when a.n % 9 = 4 then 1 else 0 end, x.score, 0.1, x.score, x.score, 0.5, 0.5, 0.5, 0.5,
        0.5, a.n % 3, 40, now(), a.is_public, a.n % 4 <> 1
     from (select *, row_number() over (order by created_at) as n from agents) a
       cross join lateral (select case when a.user_id = $1 then 50 - a.n % 5 else 60 + a.n % 20 end as score) x`,
    [owner.id],
  );
  await service.sql("update users set charges_enabled = true");
  await service.sql("insert into seller_accounts (user_id, account_id) select id, 'acct_' || id from users");
  await service.sql(
    `insert into listings (id, agent_id, seller_id, title, price_usd, created_at)
     select uuidv7_at(created_at, row_number() over (order by created_at, id)::integer), id, user_id,
       case when user_id = $1 then reverse(name) else name end, 10, created_at from agents`,
    [owner.id],
  );
  all = await service.sql(
    `select a.id, a.name, l.title, a.user_id, a.is_public, b.verified,
       case when b.tier = 0 and b.listed then rank() over (partition by b.listed order by b.tier, b.composite_score desc, b.runs desc, b.agent_id) end::integer as place
     from agents a join board_entries b on b.agent_id = a.id join listings l on l.agent_id = a.id order by a.created_at desc, a.id desc`,
  );
}, 60_000);

afterAll(() => service.stop());

/** Whether people would say that a name has it. */
function has(name: string, q: string): boolean {
  const [text, part] = [name.toLowerCase(), q.toLowerCase()];
  return /[a-z0-9]{3}/.test(part) ? text.includes(part) : text.startsWith(part);
}

async function found(who: Caller, path: string, q: string) {
  const { status, body, text } = await who.call("GET", `/api/v1/${path}page_size=100&q=${encodeURIComponent(q)}`);
  expect(status, text).toBe(200);
  return body;
}

describe.each(SEARCHES)("q=%s finds what is called so, in the list's order, and no other,", (q) => {
  it("among public and own agents, listings by either name, and on the board with places of the whole board", async () => {
    const expected = (fits: (one: (typeof all)[number]) => boolean) => {
      const these = all.filter((one) => fits(one));
      return {
        total: Math.min(these.length, 100),
        ids: these.slice(0, 100).map(({ id }) => id),
        capped: these.length > 100,
      };
    };
    const shown = (body: { items: { id?: string; agent_id?: string }[]; total: number; total_is_capped?: true }) => ({
      total: body.total,
      ids: body.items.map(({ id, agent_id: agent }) => agent ?? id),
      capped: body.total_is_capped === true,
    });
    const isPublic = (one: (typeof all)[number]) => one.is_public && has(one.name, q);
    expect(shown(await found(anonymous, "agents?", q))).toEqual(expected(isPublic));
    expect(shown(await found(owner, "agents?active_only=false&", q))).toEqual(
      expected((one) => one.user_id === owner.id && has(one.name, q)),
    );
    expect(shown(await found(anonymous, "marketplace/listings?", q))).toEqual(
      expected((one) => one.is_public && (has(one.name, q) || has(one.title, q))),
    );
    for (const verifiedOnly of [false, true]) {
      const body = await found(anonymous, `leaderboard?verified_only=${verifiedOnly}&`, q);
      const onIt = all.filter((one) => one.is_public && (one.verified || !verifiedOnly));
      const ranks = onIt.flatMap(({ place }) => (place === null ? [] : [place])).toSorted((a, b) => a - b);
      const ranked = onIt
        .filter((one) => has(one.name, q) && one.place !== null)
        .map(({ id, place }) => [id, ranks.indexOf(place ?? 0) + 1]);
      const byRank = ranked.toSorted(([, a], [, b]) => Number(a) - Number(b)).slice(0, 100);
      const rows = body.items.filter(({ rank }: { rank: number | null }) => rank !== null);
      expect(rows.map(({ agent_id, rank }: { agent_id: string; rank: number }) => [agent_id, rank])).toEqual(byRank);
      expect(body.total).toBe(Math.min(100, onIt.filter((one) => has(one.name, q)).length));
    }
  });
});

it("pages through what it found, each once", async () => {
  const pages = await Promise.all(
    [1, 2, 3].map((page) => anonymous.call("GET", `/api/v1/agents?q=filler%2051&page_size=50&page=${page}`)),
  );
  const ids = pages.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id));
  expect(ids).toEqual(all.filter(({ name }) => has(name, "filler 51")).map(({ id }) => id));
});

it.each(["", "   ", "x".repeat(101), "a%00b"])("refuses q=%s", async (q) => {
  for (const path of ["agents", "leaderboard", "marketplace/listings"]) {
    const { status, body } = await anonymous.call("GET", `/api/v1/${path}?q=${q}`);
    expect([path, status, body.errors?.[0].pointer]).toEqual([path, 422, "/q"]);
  }
});
