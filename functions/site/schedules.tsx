import * as z from "zod";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { firstInstant, instants } from "../../shared/schedules/cron.ts";
import { ScheduleRead } from "../../shared/schedules/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { ChooseAgent } from "./parts/choose-agent.tsx";
import { cronWords } from "./parts/cron-words.ts";
import { attempt, Choose, Field, Form, KEY, Result, type Sent, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { looksForAgent, myAgents } from "./parts/my-agents.ts";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { PLAN } from "./parts/paths.ts";
import { RowAction } from "./parts/row-action.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/schedules";
const API = "/api/v1/screening-schedules";
const LABELS = {
  agent_id: "Agent",
  suite_id: "Suite",
  repeats: "How often each task",
  cron: "When",
  timezone: "By the clocks of",
};
const NAMES = ["agent_id", "suite_id", "repeats", "cron", "timezone"] as const;
const TIMES = 5;

const Schedules = z.object({ items: z.array(ScheduleRead) });
const Suites = z.object({ items: z.array(SuiteRead) });
type Schedule = z.output<typeof ScheduleRead>;

interface Outcome extends Sent {
  /** The expression and zone whose times are asked for. */
  preview?: { cron: string; timezone: string };
}

/** A time by the clocks of the schedule's zone. */
function At({ time, zone }: { time: Date; zone: string }) {
  const text = new Intl.DateTimeFormat("en-GB", { timeZone: zone, dateStyle: "medium", timeStyle: "short" }).format(
    time,
  );
  return <time datetime={time.toISOString()}>{text}</time>;
}

/** What an expression means: in words where it has any, and the next times. */
function Meaning({ cron, timezone, now }: { cron: string; timezone: string; now: Date }) {
  const times = [...instants(cron, timezone, now).take(TIMES)];
  return (
    <Notice kind="good" alert>
      <p>
        <code>{cron}</code> fires {cronWords(cron) ?? "at these times"}, by the clocks of {timezone}. The next times:
      </p>
      <ol>
        {times.map((time) => (
          <li>
            <At time={time} zone={timezone} />
          </li>
        ))}
      </ol>
    </Notice>
  );
}

/** When it last started a screening, as the way to that one. */
function Last({ schedule: { last_run_at: at, last_screening_session_id: session, timezone } }: { schedule: Schedule }) {
  if (at === null) return "never";
  const time = <At time={new Date(at)} zone={timezone} />;
  return session === null ? time : <a href={`/sessions/${session}`}>{time}</a>;
}

/** When it starts the next screening, or why it starts none. */
function Next({ schedule: { next_run_at: at, waits_for_plan: waits, timezone } }: { schedule: Schedule }) {
  if (at === null) return "paused";
  if (!waits) return <At time={new Date(at)} zone={timezone} />;
  return (
    <>
      waits: <a href={PLAN}>the plan</a> has no room for it
    </>
  );
}

/** The names of agents and suites, by their ids. */
interface Names {
  agents: Map<string, string>;
  suites: Map<string, string>;
}

function List({ schedules, names }: { schedules: readonly Schedule[]; names: Names }) {
  return (
    <Table
      label="Schedules"
      columns={[["Screens", "wide"], ["When", "wide"], "Next", ["Last", "wide"], ["Do", "mute"], ["End", "mute"]]}
    >
      {schedules.map((schedule) => {
        const { id, agent_id, agent_name, suite_id, task_ids, cron, timezone, repeats } = schedule;
        const name = names.agents.get(agent_id) ?? agent_name;
        const tasks = task_ids === null ? names.suites.get(suite_id ?? "") : counted(task_ids.length, "task");
        return (
          <tr>
            <td class="wide">
              <a href={`/agents/${agent_id}`}>
                <bdi>{name}</bdi>
              </a>
              {tasks !== undefined && <>: {tasks}</>}
            </td>
            <td class="wide">
              {cronWords(cron) ?? <code>{cron}</code>}, {timezone}
              {repeats > 1 && <span class="tag">{repeats} times each</span>}
            </td>
            <td>
              <Next schedule={schedule} />
            </td>
            <td class="wide">
              <Last schedule={schedule} />
              {schedule.last_error !== null && <p class="error">{schedule.last_error}</p>}
            </td>
            <td>
              {schedule.may_change && (
                <RowAction
                  action={PATH}
                  id={id}
                  wish={schedule.is_active ? "pause" : "resume"}
                  label={schedule.is_active ? "Pause" : "Go on"}
                  of={name}
                />
              )}
            </td>
            <td>{schedule.may_change && <RowAction action={PATH} id={id} wish="delete" label="Delete" of={name} />}</td>
          </tr>
        );
      })}
    </Table>
  );
}

async function show({ ctx, c, api }: Visit, { said, preview, typed, wrong }: Outcome = {}): Promise<Response> {
  const [{ items }, choices, suites] = await Promise.all([
    api.read(`${API}?page_size=100`, Schedules),
    myAgents(api, typed),
    api.read("/api/v1/suites?page_size=100", Suites),
  ]);
  const offered = suites.items.filter(({ is_secret, task_count }) => !is_secret && task_count > 0);
  const value = (name: string, otherwise: string) => typed?.get(name) ?? otherwise;
  const names = {
    agents: new Map(choices.agents.map(({ id, label }) => [id, label])),
    suites: new Map(suites.items.map(({ id, name }) => [id, name])),
  };
  return personal(
    c,
    <Layout title={wrong === undefined ? "Schedules" : "Error: schedules"} own="/settings">
      <h1>Schedules</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={LABELS} />
      {preview !== undefined && <Meaning {...preview} now={ctx.now()} />}
      {items.length === 0 ? (
        <Empty>
          <p>Nothing is scheduled. A schedule screens an agent by itself, so that you see when it gets worse.</p>
        </Empty>
      ) : (
        <List schedules={items} names={names} />
      )}
      <h2>A new schedule</h2>
      {choices.agents.length === 0 && choices.q === "" ? (
        <p>
          There is no agent to screen yet: <a href="/agents/new">connect one</a>
        </p>
      ) : (
        <Form action={PATH} button="Make the schedule" others={[["preview", "Only show the next times"]]} once>
          <ChooseAgent
            label={LABELS.agent_id}
            name="agent_id"
            value={value("agent_id", "")}
            choices={choices}
            wrong={wrong}
          />
          <Choose
            label={LABELS.suite_id}
            name="suite_id"
            value={value("suite_id", offered.find(({ slug }) => slug === "core")?.id ?? "")}
            options={offered.map(({ id, name, task_count }) => [id, `${name} (${counted(task_count, "task")})`])}
            wrong={wrong}
          />
          <Field
            label={LABELS.repeats}
            name="repeats"
            type="number"
            min={1}
            max={10}
            value={value("repeats", "1")}
            wrong={wrong}
          />
          <Field
            label={LABELS.cron}
            name="cron"
            value={value("cron", "0 6 * * 1-5")}
            hint="A cron expression: minute, hour, day of the month, month, weekday. At most hourly."
            wrong={wrong}
          />
          <Field
            label={LABELS.timezone}
            name="timezone"
            value={value("timezone", "UTC")}
            hint="An IANA time zone, such as Europe/Berlin"
            wrong={wrong}
          />
        </Form>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** What each button of a row does, and says then. */
async function act({ api }: Visit, at: string, wish: string): Promise<string> {
  if (wish === "delete") {
    await unless("not_found", api.send("DELETE", at));
    return "The schedule is deleted.";
  }
  await api.send("PATCH", at, { is_active: wish === "resume" });
  return wish === "resume" ? "It goes on, in your name." : "It is paused.";
}

async function take(visit: Visit): Promise<Response> {
  const { ctx, form, api } = visit;
  if (looksForAgent(form)) return show(visit, { typed: form });
  const [wish, id] = [form.get("do"), form.get("id")];
  const [cron = "", timezone = ""] = ["cron", "timezone"].map((name) => form.get(name)?.trim() ?? "");
  const result = await attempt(NAMES, async (): Promise<Outcome> => {
    if (wish !== null && id !== null) return { said: await act(visit, `${API}/${encodeURIComponent(id)}`, wish) };
    if (wish === "preview") {
      firstInstant(cron, timezone, ctx.now());
      return { preview: { cron, timezone }, typed: form };
    }
    const [agent_id, suite_id] = ["agent_id", "suite_id"].map((name) => form.get(name) ?? "");
    const body = { agent_id, suite_id, repeats: Number(form.get("repeats") ?? 1), cron, timezone };
    await api.send("POST", API, body, form.get(KEY) ?? undefined);
    return { said: "The schedule is made." };
  });
  return show(visit, result instanceof Wrong ? { typed: form, wrong: result } : result);
}

export const schedulePages: readonly View[] = [
  view({ path: PATH, title: "Schedules", show: (visit) => show(visit), take }),
];
