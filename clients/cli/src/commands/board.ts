import type { ItemOf } from "../../../typescript/src/pages.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { connect } from "../settings.ts";
import { cut, numbers, plain, print, table } from "../terminal.ts";
import { countOf } from "./runs.ts";

const DOMAINS = [
  "reasoning",
  "math",
  "coding",
  "data_extraction",
  "tool_use",
  "instruction_following",
  "planning",
  "retrieval",
  "safety",
  "robustness",
] as const;
const PERIODS = ["all", "30d", "7d"] as const;
const NAME_WIDTH = 32;

/** `board`: the ranked agents, best first. */
export const board = command({
  usage: "board [--domain DOMAIN] [--period all|30d|7d] [--verified] [--limit 20]",
  about: "Shows the board, best first: places that the intervals do not tell apart stand beside each rank.",
  options: {
    ...SERVICE,
    domain: { type: "string", value: "DOMAIN", about: "by the tasks of one domain" },
    period: { type: "string", value: "PERIOD", about: "all (default), 30d or 7d" },
    verified: { type: "boolean", about: "verified agents alone" },
    certified: { type: "boolean", about: "certified agents alone" },
    limit: { type: "string", value: "N", about: "how many (20)" },
  },
  async run(values, _none, terminal) {
    const domain = DOMAINS.find((one) => one === values.domain);
    if (values.domain !== undefined && domain === undefined) {
      throw new Failure(EXIT.usage, `--domain is one of ${DOMAINS.join(", ")}.`);
    }
    const period = PERIODS.find((one) => one === (values.period ?? "all"));
    if (period === undefined) throw new Failure(EXIT.usage, `--period is one of ${PERIODS.join(", ")}.`);
    const limit = countOf("limit", values.limit ?? "20");
    const { client } = connect(values, terminal);
    const query = {
      period,
      page_size: Math.min(limit, 100),
      ...(domain === undefined ? {} : { domain }),
      ...(values.verified === true ? { verified_only: "true" } : {}),
      ...(values.certified === true ? { certified_only: "true" } : {}),
    };
    const found: ItemOf<"/api/v1/leaderboard">[] = [];
    for await (const row of client.each("/api/v1/leaderboard", { query })) {
      found.push(row);
      if (found.length === limit) break;
    }
    if (values.json === true) print(terminal, JSON.stringify(found));
    else if (found.length === 0) print(terminal, "Nobody is on this board yet.");
    else {
      const headings = ["rank", "places", "score", "from", "to", "runs"].map(numbers);
      print(terminal, ...table([...headings, "agent"], found.map(cells)));
    }
    return EXIT.fine;
  },
});

function cells(row: ItemOf<"/api/v1/leaderboard">): string[] {
  const { rank, rank_low, rank_high, composite_score, score_low, score_high, runs, name } = row;
  const provisional = !row.simulated && row.score_basis === "provisional" ? ["provisional"] : [];
  const marks = [...provisional, ...(["simulated", "memorised", "uneven"] as const).filter((mark) => row[mark])];
  return [
    rank === null ? "–" : String(rank),
    rank_low === null || rank_high === null ? "–" : `${rank_low}–${rank_high}`,
    ...[composite_score, score_low, score_high].map((score) => score.toFixed(2)),
    String(runs),
    `${cut(plain(name), NAME_WIDTH)}${marks.length > 0 ? ` (${marks.join(", ")})` : ""}`,
  ];
}
