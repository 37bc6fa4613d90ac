import type * as z from "zod";
import { UsageRead } from "../../shared/results/usage.ts";
import { Layout, percent, personal } from "./layout.tsx";
import { attempt, Choose, Field, Refused, Wrong } from "./parts/form.tsx";
import { costInWords } from "./parts/in-words.ts";
import { Empty, Table } from "./parts/notice.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/usage";
const LABELS = { from: "From", to: "To", by: "By" };
const NAMES = ["from", "to", "by", "team_id"] as const;
const WAYS = [
  ["day", "Day"],
  ["agent", "Agent"],
  ["key", "API key"],
] as const;

type Usage = z.output<typeof UsageRead>;
type Row = Usage["items"][number];

/** What a row is about. */
function About({ row }: { row: Row }) {
  if ("date" in row) return <time datetime={row.date}>{row.date}</time>;
  if ("agent_id" in row) {
    if (row.name === null) return <>An agent that is not yours to see</>;
    return (
      <a href={`/agents/${row.agent_id}`}>
        <bdi>{row.name}</bdi>
      </a>
    );
  }
  if (row.name !== null) return <bdi>{row.name}</bdi>;
  return row.api_key_id === null ? <>No key, or one that is gone</> : <>A member's own key</>;
}

/** The numbers of a row, or of all of them. */
function Numbers({ of: { runs, passed, evidence_cost_usd } }: { of: Usage["totals"] }) {
  return (
    <>
      <td class="number">{runs}</td>
      <td class="number">{passed}</td>
      <td class="number">{runs === 0 ? "–" : percent(passed / runs)}</td>
      <td class="number">{evidence_cost_usd === null ? "–" : costInWords(evidence_cost_usd)}</td>
    </>
  );
}

function Report({ usage }: { usage: Usage }) {
  if (usage.items.length === 0)
    return (
      <Empty>
        <p>
          No run was asked for from {usage.from} to {usage.to}.
        </p>
      </Empty>
    );
  const label = WAYS.find(([way]) => way === usage.by)?.[1] ?? usage.by;
  return (
    <>
      <Table
        label="Usage"
        caption={`From ${usage.from} to ${usage.to}, days by UTC`}
        columns={[
          [label, "wide"],
          ["Runs", "number"],
          ["Passed", "number"],
          ["Share", "number"],
          ["Known cost", "number"],
        ]}
      >
        {usage.items.map((row) => (
          <tr>
            <td class="wide">
              <About row={row} />
            </td>
            <Numbers of={row} />
          </tr>
        ))}
        <tr>
          <td class="wide">
            <strong>In all</strong>
          </td>
          <Numbers of={usage.totals} />
        </tr>
      </Table>
      <p class="hint">
        Runs that the month's allowance got back, as those that failed by a fault of ours, are among these. What a
        simulated run costs is not known.
      </p>
    </>
  );
}

function Page({ usage, typed, wrong }: { usage: Usage | null; typed: URLSearchParams; wrong?: Wrong | undefined }) {
  const team = typed.get("team_id");
  return (
    <Layout title={wrong === undefined ? "Usage" : "Error: usage"} own={team === null ? "/settings" : "/workspaces"}>
      <h1>{team === null ? "Usage" : "Usage of a workspace"}</h1>
      {team === null ? (
        <SettingsNav current={PATH} />
      ) : (
        <p>
          The runs that <a href={`/workspaces/${team}`}>the workspace</a> paid for, whoever asked for them.
        </p>
      )}
      <Refused wrong={wrong} labels={LABELS} />
      <form method="get" action={PATH}>
        {team !== null && <input type="hidden" name="team_id" value={team} />}
        <Field
          label={LABELS.from}
          name="from"
          type="date"
          value={typed.get("from") ?? usage?.from}
          wrong={wrong}
          optional
        />
        <Field
          label={LABELS.to}
          name="to"
          type="date"
          value={typed.get("to") ?? usage?.to}
          hint="At most 92 days in all, by UTC"
          wrong={wrong}
          optional
        />
        <Choose label={LABELS.by} name="by" value={typed.get("by") ?? "day"} options={WAYS} wrong={wrong} />
        <p>
          <button type="submit">Show</button>
        </p>
      </form>
      {usage !== null && <Report usage={usage} />}
    </Layout>
  );
}

async function show({ c, api, query }: Visit): Promise<Response> {
  const typed = new URLSearchParams();
  for (const name of NAMES) {
    const value = query.get(name) ?? "";
    if (value !== "") typed.set(name, value);
  }
  const result = await attempt(NAMES, () => api.read(`/api/v1/usage?${typed.toString()}`, UsageRead));
  if (!(result instanceof Wrong)) return personal(c, <Page usage={result} typed={typed} />);
  return personal(c, <Page usage={null} typed={typed} wrong={result} />, result.status);
}

export const usagePages: readonly View[] = [view({ path: PATH, title: "Usage", show })];
