import * as z from "zod";
import { ScorecardBoardRow } from "../../shared/scorecards/board-shown.ts";
import { AXES, ScorecardRead } from "../../shared/scorecards/shown.ts";
import { TeamRead } from "../../shared/teams/shown.ts";
import { Bar, Layout, personal, sendTo } from "./layout.tsx";
import { Before, heldBefore } from "./parts/before.tsx";
import { attempt, Choose, Field, Form, KEY, Refused, Result, type Sent, Wrong } from "./parts/form.tsx";
import { Marks } from "./parts/marks.tsx";
import { mayIn } from "./parts/may.ts";
import { Empty, Table } from "./parts/notice.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/scorecards";
const API = "/api/v1/scorecards";
const ROWS = 50;
const AXIS_LABELS = {
  correctness: "Correctness",
  latency: "Latency",
  cost: "Cost efficiency",
  tool_efficiency: "Tool efficiency",
  robustness: "Robustness",
};
const LABELS = { name: "Name", team_id: "Of", weights: "Weights", ...AXIS_LABELS };

const Scorecards = z.object({ items: z.array(ScorecardRead) });
const Teams = z.object({ items: z.array(TeamRead.pick({ id: true, name: true })) });
const Board = z.object({ items: z.array(ScorecardBoardRow), total: z.number() });
type Scorecard = z.output<typeof ScorecardRead>;

/** The weights of a form as the interface takes them; what is no number is sent as it was typed, to be refused. */
function weightsOf(form: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    AXES.map((axis) => {
      const text = form.get(axis)?.trim() ?? "";
      return [axis, text === "" ? 0 : Number.isNaN(Number(text)) ? text : Number(text)];
    }),
  );
}

/**
 * What was changed in the form of a scorecard, as the interface takes it. A weight that was left as it stood is sent as it
 * is kept, since what is shown of it is rounded; weights that were all left so are not sent.
 */
function changesOf(form: URLSearchParams): Record<string, unknown> {
  const before = heldBefore(form);
  const kept = (axis: string) => Number(before.get(axis) ?? 0);
  const left = AXES.filter((axis) => form.get(axis)?.trim() === inPercent(kept(axis)));
  const weights = { ...weightsOf(form), ...Object.fromEntries(left.map((axis) => [axis, 100 * kept(axis)])) };
  const name = form.get("name") ?? "";
  return {
    ...(name === before.get("name") ? {} : { name }),
    ...(left.length === AXES.length ? {} : { weights }),
  };
}

/** Runs the work behind a form of weights: what is wrong with one of them is told at its own field. */
async function attempted<T>(work: () => Promise<T>): Promise<T | Wrong> {
  const names = [...AXES.map((axis) => `weights/${axis}`), "name", "team_id", "weights"];
  const result = await attempt(names, work);
  return result instanceof Wrong
    ? result.renamed((name) => (name === "weights" ? "correctness" : name.replace("weights/", "")))
    : result;
}

function Weights({ value, wrong }: { value: (axis: (typeof AXES)[number]) => string; wrong: Wrong | undefined }) {
  return (
    <>
      {AXES.map((axis) => (
        <Field label={AXIS_LABELS[axis]} name={axis} value={value(axis)} wrong={wrong} />
      ))}
      <p class="hint">How much each counts, in any numbers: they are divided by their sum.</p>
    </>
  );
}

const inPercent = (weight: number): string => String(Math.round(weight * 1000) / 10);

function List({ scorecards, teams }: { scorecards: readonly Scorecard[]; teams: Map<string, string> }) {
  return (
    <Table
      label="Scorecards"
      columns={[["Scorecard", "wide"], "Of", ...AXES.map((axis) => [AXIS_LABELS[axis], "number"] as const)]}
    >
      {scorecards.map(({ id, name, team_id, is_template, weights }) => (
        <tr>
          <td class="wide">
            <a href={`${PATH}/${id}`}>
              <bdi>{name}</bdi>
            </a>
          </td>
          <td>
            <bdi>{is_template ? "everybody" : team_id === null ? "you" : (teams.get(team_id) ?? "a workspace")}</bdi>
          </td>
          {AXES.map((axis) => (
            <td class="number">{inPercent(weights[axis])}%</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

async function showAll({ c, api, query }: Visit, { typed, wrong }: Sent = {}): Promise<Response> {
  const asked = z.uuid().safeParse(query.get("team_id")).data;
  const narrowed = asked === undefined ? "" : `&team_id=${asked}`;
  const [own, templates, teams] = await Promise.all([
    api.read(`${API}?page_size=100${narrowed}`, Scorecards),
    api.read(`${API}/templates`, Scorecards),
    api.read("/api/v1/teams?page_size=100", Teams),
  ]);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Scorecards" : "Error: scorecards"} own="/workspaces">
      <h1>Scorecards</h1>
      <p>A scorecard ranks the public board by what counts for you. No public number changes by it.</p>
      <Refused wrong={wrong} labels={LABELS} />
      <List
        scorecards={[...own.items, ...templates.items]}
        teams={new Map(teams.items.map(({ id, name }) => [id, name]))}
      />
      <h2>A new scorecard</h2>
      <Form action={PATH} button="Make the scorecard" once>
        <Field label={LABELS.name} name="name" value={typed?.get("name")} wrong={wrong} />
        <Choose
          label={LABELS.team_id}
          name="team_id"
          value={typed?.get("team_id") ?? asked ?? ""}
          options={[["", "you alone"], ...teams.items.map(({ id, name }) => [id, name] as const)]}
          wrong={wrong}
        />
        <Weights value={(axis) => typed?.get(axis) ?? "20"} wrong={wrong} />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function make(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const team = form.get("team_id") ?? "";
  const body = {
    name: form.get("name") ?? "",
    weights: weightsOf(form),
    ...(team === "" ? {} : { team_id: team }),
  };
  const made = await attempted(async () =>
    ScorecardRead.parse(await api.send("POST", API, body, form.get(KEY) ?? undefined)),
  );
  return made instanceof Wrong ? showAll(visit, { typed: form, wrong: made }) : sendTo(c, `${PATH}/${made.id}`);
}

function Ranking({ rows }: { rows: z.output<typeof Board>["items"] }) {
  return (
    <Table
      label="The board by this scorecard"
      columns={[
        ["Place", "number"],
        ["Agent", "wide"],
        ["By this scorecard", "number"],
        "Drawn",
        ["Composite", "number"],
      ]}
    >
      {rows.map(({ rank, agent_id, name, scorecard_score, missing_axes, composite_score, ...row }) => (
        <tr>
          <td class="number">{rank ?? "–"}</td>
          <td class="wide">
            <a href={`/agents/${agent_id}`}>
              <bdi>{name}</bdi>
            </a>
            <Marks of={row} />
            {missing_axes.length > 0 && (
              <span class="mute">
                {" "}
                no evidence of {missing_axes.map((axis) => AXIS_LABELS[axis].toLowerCase()).join(", ")}
              </span>
            )}
          </td>
          <td class="number">{scorecard_score.toFixed(2)}</td>
          <td>
            <Bar value={scorecard_score / 100} label={scorecard_score.toFixed(1)} />
          </td>
          <td class="number">{composite_score.toFixed(2)}</td>
        </tr>
      ))}
    </Table>
  );
}

async function showOne({ c, api, params }: Visit, { said, typed, wrong }: Sent = {}) {
  const at = `${API}/${params["scorecard_id"]}`;
  const [scorecard, board] = await Promise.all([
    api.read(at, ScorecardRead),
    api.read(`${at}/board?page_size=${ROWS}`, Board),
  ]);
  const mayEdit = await mayIn(api, scorecard.team_id, "edit");
  const path = `${PATH}/${scorecard.id}`;
  // Its weights unrounded.
  const held = new URLSearchParams({
    name: scorecard.name,
    ...Object.fromEntries(AXES.map((axis) => [axis, String(scorecard.weights[axis])])),
  });
  return personal(
    c,
    <Layout title={wrong === undefined ? scorecard.name : `Error: ${scorecard.name}`} own="/workspaces">
      <h1>
        <bdi>{scorecard.name}</bdi>
      </h1>
      <Result said={said} wrong={wrong} labels={LABELS} />
      {board.items.length === 0 ? (
        <Empty>
          <p>No agent stands on the board yet.</p>
        </Empty>
      ) : (
        <Ranking rows={board.items} />
      )}
      {board.total > ROWS && <p class="mute">The first {ROWS} of them; the interface lists all.</p>}
      {scorecard.is_template ? (
        <p>A template: everybody's to rank by. Make a scorecard of your own to change its weights.</p>
      ) : !mayEdit ? (
        <p>Your role in its workspace lets you rank by it, not change it. Make a scorecard of your own for that.</p>
      ) : (
        <>
          <h2>Change it</h2>
          <Form action={path} button="Save">
            <Before held={held} typed={typed} />
            <Field label={LABELS.name} name="name" value={typed?.get("name") ?? scorecard.name} wrong={wrong} />
            <Weights value={(axis) => typed?.get(axis) ?? inPercent(scorecard.weights[axis])} wrong={wrong} />
          </Form>
          <Form action={path} button="Delete the scorecard" danger>
            <input type="hidden" name="do" value="delete" />
          </Form>
        </>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function change(visit: Visit): Promise<Response> {
  const { c, form, api, params } = visit;
  const at = `${API}/${params["scorecard_id"]}`;
  if (form.get("do") === "delete") {
    const gone = await attempted(() => unless("not_found", api.send("DELETE", at)));
    return gone instanceof Wrong ? showOne(visit, { wrong: gone }) : sendTo(c, PATH);
  }
  const saved = await attempted(() => api.send("PATCH", at, changesOf(form)));
  return showOne(visit, saved instanceof Wrong ? { typed: form, wrong: saved } : { said: "Saved." });
}

export const scorecardPages: readonly View[] = [
  view({ path: PATH, title: "Scorecards", show: (visit) => showAll(visit), take: make }),
  view({ path: `${PATH}/{scorecard_id}`, title: "A scorecard", show: (visit) => showOne(visit), take: change }),
];
