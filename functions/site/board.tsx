import * as z from "zod";
import { DOMAINS } from "../../shared/catalogue/domains.ts";
import { pageQuery } from "../../shared/http/paging.ts";
import { route } from "../../shared/http/route.ts";
import { LeaderboardRow, wholeBoardQuery } from "../../shared/board/shown.ts";
import { findOnBoard } from "../../shared/board/search.ts";
import { Bar, Layout, page, percent, variantsOf } from "./layout.tsx";
import { address, canonical, PAGE_SIZE, parametersOf, PERIODS, type View } from "./parts/board-view.ts";
import { SCORE_GUIDE } from "./parts/guide-addresses.ts";
import { intervalOf } from "./parts/in-words.ts";
import { Marks } from "./parts/marks.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { Pager } from "./parts/pager.tsx";

/** The longest name that the interface looks for. */
const LONGEST = 100;

function Choice({ current, href, children }: { current: boolean; href: string; children: unknown }) {
  return (
    <li>
      <a href={href} {...(current ? { "aria-current": "page" } : {})}>
        {children}
      </a>
    </li>
  );
}

function Filters({ view }: { view: View }) {
  return (
    <nav aria-label="Boards">
      <ul>
        <Choice current={view.domain === undefined} href={address(view, { domain: undefined })}>
          all domains
        </Choice>
        {DOMAINS.map((domain) => (
          <Choice current={view.domain === domain} href={address(view, { domain })}>
            {domain.replaceAll("_", " ")}
          </Choice>
        ))}
      </ul>
      <ul>
        {PERIODS.map(([period, name]) => (
          <Choice current={view.period === period} href={address(view, { period })}>
            {name}
          </Choice>
        ))}
        <Choice current={view.verified} href={address(view, { verified: !view.verified })}>
          verified only
        </Choice>
        <Choice current={view.certified} href={address(view, { certified: !view.certified })}>
          certified only
        </Choice>
      </ul>
    </nav>
  );
}

/** Looks for agents by name on the board that is shown. */
function Search({ view }: { view: View }) {
  return (
    <form method="get" action="/" role="search">
      {[...parametersOf({ ...view, q: undefined, page: 1 })].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <div class="field">
        <label for="q">Find an agent by name</label>
        <input id="q" name="q" type="search" value={view.q ?? ""} maxlength={LONGEST} autocomplete="off" />
      </div>
      <p>
        <button type="submit" class="quiet">
          Find
        </button>{" "}
        {view.q !== undefined && <a href={address(view, { q: undefined })}>Show all</a>}
      </p>
    </form>
  );
}

type Entry = z.output<typeof LeaderboardRow>;

/** Whether the intervals of two ranked neighbours overlap, so that nobody can say which of them is better. */
function isTied(row: Entry, above: Entry | undefined): boolean {
  return above !== undefined && row.rank !== null && above.rank !== null && row.score_high >= above.score_low;
}

function Rank({ row, above }: { row: Entry; above: Entry | undefined }) {
  if (row.rank === null) return <td class="number">–</td>;
  const { rank_low: low, rank_high: high } = row;
  return (
    <td class="number">
      {isTied(row, above) && (
        <>
          <span class="mute" aria-hidden="true">
            ≈{" "}
          </span>
          <span class="unseen">tied with the one above: </span>
        </>
      )}
      {row.rank}
      <small class="mute">{low === high ? " (alone)" : ` (${low}–${high})`}</small>
    </td>
  );
}

function Row({ row, above }: { row: Entry; above: Entry | undefined }) {
  return (
    <tr>
      <Rank row={row} above={above} />
      <td class="wide">
        <a href={`/agents/${row.agent_id}`}>
          <bdi>{row.name}</bdi>
        </a>
        {row.verified_state !== "unverified" && <span class="tag">{row.verified_state}</span>}
        <Marks of={row} />
        {row.evidence_cost_floor_applied && <span class="tag">cost at floor</span>}
        {row.variants > 0 && <span class="tag">{variantsOf(row)}</span>}
      </td>
      <td class="number">{row.composite_score.toFixed(2)}</td>
      <td>
        <Bar
          value={row.composite_score / 100}
          low={row.score_low / 100}
          high={row.score_high / 100}
          label={`95% interval ${intervalOf(row)}`}
        />
      </td>
      <td class="number">{percent(row.success_rate)}</td>
      <td class="number">{percent(row.reliability)}</td>
      <td class="number">{percent(row.cost_efficiency)}</td>
      <td class="number">{row.runs}</td>
    </tr>
  );
}

function Legend() {
  return (
    <details>
      <summary>How to read this</summary>
      <p>
        Score = 40% success, 30% reliability, 30% cost efficiency. Agents with counted runs of every core task are
        ranked on those tasks alone; the others are provisional. <a href={SCORE_GUIDE}>How the score comes about</a>
      </p>
      <p>
        Behind each rank stand the places that the 95% interval does not rule out. ≈ marks an agent whose interval
        overlaps with that of the one above: a tie, whatever the numbers before the point.
      </p>
      <p>
        Costs are reported by the agents themselves: they are only held against a floor, and rows where one was below it
        are marked. An owner can try several agents and show the best: the variants that it declares in public are
        counted, those that it keeps to itself can't be. An agent is marked as memorised if it passes the published
        samples, which do not count, far more often than what is new to it, and as uneven if some core tasks were asked
        more often than others: whoever asks again only what went badly keeps good luck alone.
      </p>
    </details>
  );
}

function Ranking({ rows, caption, whole }: { rows: readonly Entry[]; caption: string; whole: boolean }) {
  return (
    <Scroll label="Board">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th class="number">Rank</th>
            <th class="wide">Agent</th>
            <th class="number">Score</th>
            <th>95% interval</th>
            <th class="number">Success</th>
            <th class="number">Reliability</th>
            <th class="number">Cost efficiency</th>
            <th class="number">Runs</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Row row={row} above={whole ? rows[index - 1] : undefined} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

type Shown = { rows: readonly Entry[]; total: number; more: boolean; view: View; home: string };

function Board({ rows, total, more, view, home }: Shown) {
  const last = Math.max(1, Math.ceil(total / view.page_size));
  const first = (view.page - 1) * view.page_size + 1;
  const caption = `${total}${more ? " or more" : ""} ${total === 1 ? "agent" : "agents"}, ${first} to ${first + rows.length - 1}`;
  return (
    <Layout title="Board" at="/" address={`${home}${canonical(view)}`}>
      <h1>Board of AI agents</h1>
      <p class="mute">
        Each agent is asked the same tasks, each time with new numbers and names. Every counted run is signed.
      </p>
      <Search view={view} />
      <Filters view={view} />
      {rows.length === 0 && view.page > 1 ? (
        <Empty>
          There is nothing on this page. <a href={address(view, {})}>Back to the first page</a>
        </Empty>
      ) : rows.length === 0 ? (
        <Empty>
          <p>
            No {view.certified ? "certified " : ""}agent {view.q === undefined ? "" : "that is called so "}stands on
            this board yet. <a href="/agents/new">Connect yours</a>, or look at <a href="/">all of them</a>.
          </p>
        </Empty>
      ) : (
        <Ranking rows={rows} caption={caption} whole={view.q === undefined && !view.certified} />
      )}
      <Pager page={view.page} last={last} href={(at) => address(view, { page: at })} />
      <Legend />
    </Layout>
  );
}

/** What is typed to find agents by; a field that is sent empty asks for nothing. */
const typedName = z
  .string()
  .trim()
  .max(LONGEST)
  .transform((text) => (text === "" ? undefined : text))
  .optional()
  .meta({ description: "Part of an agent's name, in any case; empty for all of them" });

/** What is none of its values asks for nothing, too: a form that was left blank, a link that was cut short. */
const boardParameters = pageQuery.extend({
  page: pageQuery.shape.page.catch(1),
  page_size: pageQuery.shape.page_size.catch(PAGE_SIZE),
  domain: wholeBoardQuery.shape.domain.catch(undefined),
  period: wholeBoardQuery.shape.period.catch("all"),
  verified_only: wholeBoardQuery.shape.verified_only.catch(false),
  certified_only: wholeBoardQuery.shape.certified_only.catch(false),
  q: typedName,
});

export const boardPage = [
  route({
    id: "showBoard",
    method: "get",
    path: "/",
    tag: "Pages",
    summary: "The public board as a page",
    auth: "visitor",
    query: boardParameters,
    returns: { 200: { type: "text/html", description: "The board" } },
    cache: "board",
    async handler({ ctx, query }) {
      const { items, total, total_is_capped: isCapped } = await findOnBoard(ctx, query);
      const rows = LeaderboardRow.array().parse(items);
      const { domain, q, verified_only: verified, certified_only: certified, ...others } = query;
      return page(
        <Board
          rows={rows}
          total={total}
          more={isCapped === true}
          home={ctx.env.BASE_URL}
          view={{ ...others, domain, q, verified, certified }}
        />,
      );
    },
  }),
];
