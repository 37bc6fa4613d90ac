import * as z from "zod";
import { TaskRead } from "../../../shared/catalogue/shown.ts";
import { ScreeningSessionRead } from "../../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../../shared/runs/shown.ts";
import { type Allowance, Left } from "./allowance.tsx";
import { Form } from "./form.tsx";
import { counted } from "./in-words.ts";
import { Notice } from "./notice.tsx";
import { unless } from "./unless.ts";
import type { Visit } from "./view.ts";

type Session = z.output<typeof ScreeningSessionRead>;
type Run = z.output<typeof RunRead>;
type Api = Visit["api"];

const PAGE = 100;
const MOST_PAGES = 5;
/** The most tasks that are asked for one by one: those that are no longer among the active ones. */
const MOST_GONE = 20;
const Task = TaskRead.pick({ id: true, title: true, is_active: true, is_secret: true });
const Tasks = z.object({ items: z.array(Task), total: z.number() });
const Runs = z.object({ items: z.array(RunRead), total: z.number() });

/** Tasks by their ids. */
export type TasksById = ReadonlyMap<string, z.output<typeof Task>>;

/** What stands for a task in words. */
export const titleOf = (tasks: TasksById, id: string): string =>
  tasks.get(id)?.title ?? "A task that is no longer asked";

/** The runs of a session, in its order of tasks. */
export async function runsOf(api: Api, { id, run_ids }: Session): Promise<Run[]> {
  const lists = await Promise.all(
    Array.from({ length: Math.ceil(run_ids.length / PAGE) }, (_, index) =>
      api.read(`/api/v1/runs?screening_session_id=${id}&page_size=${PAGE}&page=${index + 1}`, Runs),
    ),
  );
  const found = new Map(lists.flatMap(({ items }) => items).map((run) => [run.id, run]));
  return run_ids.flatMap((one) => found.get(one) ?? []);
}

/**
 * Of a session that goes on, the newest runs that did not pass so far, in its order of tasks, and how many there are. It is
 * looked at every other second, and must not use up what its address may read in a minute.
 */
export async function failedSoFar(api: Api, { id, run_ids }: Session): Promise<{ failed: Run[]; total: number }> {
  const { items, total } = await api.read(
    `/api/v1/runs?screening_session_id=${id}&passed=false&page_size=${PAGE}`,
    Runs,
  );
  const places = new Map(run_ids.map((one, place) => [one, place]));
  return { failed: items.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0)), total };
}

/** The active tasks, and of `ids` those that were retired; none are asked for where there are no ids. */
export async function tasksOf(api: Api, ids: readonly string[]): Promise<TasksById> {
  if (ids.length === 0) return new Map();
  const first = await api.read(`/api/v1/tasks?page_size=${PAGE}`, Tasks);
  const rest = await Promise.all(
    Array.from({ length: Math.min(MOST_PAGES, Math.ceil(first.total / PAGE)) - 1 }, (_, index) =>
      api.read(`/api/v1/tasks?page_size=${PAGE}&page=${index + 2}`, Tasks),
    ),
  );
  const active = new Map([first, ...rest].flatMap(({ items }) => items).map((task) => [task.id, task]));
  const gone = [...new Set(ids)].filter((id) => !active.has(id)).slice(0, MOST_GONE);
  const retired = await Promise.all(gone.map((id) => unless("not_found", api.read(`/api/v1/tasks/${id}`, Task))));
  return new Map([...active, ...retired.flatMap((task) => (task === null ? [] : [[task.id, task] as const]))]);
}

/** Whether a run is one of those that did not go well. */
export const hasFailed = ({ status, passed }: Run): boolean =>
  status === "failed" || (status === "completed" && passed === false);

/** The tasks that a rerun is about, by the runs of a session that is over; canaries are asked for another reason. */
export function tasksToRepeat(runs: readonly Run[]): string[] {
  return [...new Set(runs.filter((run) => hasFailed(run) && run.canary !== true).map(({ task_id }) => task_id))];
}

/** The tasks that a session repeats another one without: those that can't be run any more. Null where the other is not shown. */
export async function leftOut(api: Api, { task_plan }: Session, before: string): Promise<string[] | null> {
  const other = await unless("not_found", api.read(`/api/v1/screening-sessions/${before}`, ScreeningSessionRead));
  if (other === null) return null;
  const planned = new Set(task_plan.map(({ task_id }) => task_id));
  return tasksToRepeat(await runsOf(api, other)).filter((id) => !planned.has(id));
}

function Names({ ids, tasks }: { ids: readonly string[]; tasks: TasksById }) {
  return (
    <ul>
      {ids.map((id) => (
        <li>{titleOf(tasks, id)}</li>
      ))}
    </ul>
  );
}

/** What a screening leaves out of the one that it repeats. */
export function LeftOut({ ids, tasks, before }: { ids: readonly string[]; tasks: TasksById; before: string }) {
  if (ids.length === 0) return null;
  return (
    <Notice>
      <p>
        Left out of what did not pass in <a href={`/sessions/${before}`}>the screening before</a>, as it can't be run
        any more:
      </p>
      <Names ids={ids} tasks={tasks} />
    </Notice>
  );
}

/** The tasks of a session that did not go well and can still be run, and those that can't. */
function repeatable(runs: readonly Run[], tasks: TasksById): { open: string[]; gone: string[] } {
  const asked = tasksToRepeat(runs);
  const canRun = (one: string) => tasks.get(one)?.is_active === true && !tasks.get(one)?.is_secret;
  return { open: asked.filter(canRun), gone: asked.filter((one) => !canRun(one)) };
}

/** How many tasks an allowance has room for, each so many times. */
const fitting = ({ left }: Allowance, repeats: number, tasks: number): number =>
  Math.min(tasks, Math.floor(left / repeats));

/** The words of the button that runs so many of the tasks again. */
function buttonFor(fits: number, all: number): string {
  if (fits < all) return `Run the first ${fits === 1 ? "one" : fits} of them again`;
  return all === 1 ? "Run this task again" : `Run these ${all} tasks again`;
}

/** The way to run once more what did not pass, as far as it can still be run and the allowance has room for it. */
export function Again({ id, repeats, runs, tasks, allowance }: AgainProps) {
  const { open, gone } = repeatable(runs, tasks);
  const fits = fitting(allowance, repeats, open.length);
  const times = repeats === 1 ? "Once each" : `${repeats} times each`;
  return (
    <>
      {gone.length > 0 && (
        <>
          <p>These were retired since or are secret, and can't be run again:</p>
          <Names ids={gone} tasks={tasks} />
        </>
      )}
      {fits < open.length && (
        <p>
          To run {open.length === 1 ? "this task" : `all ${open.length} tasks`} again takes{" "}
          {counted(open.length * repeats, "run")}. <Left of={allowance} few />
        </p>
      )}
      {fits > 0 && (
        <Form action={`/sessions/${id}`} button={buttonFor(fits, open.length)} once>
          <input type="hidden" name="do" value="rerun" />
          {fits < open.length && <input type="hidden" name="first" value={fits} />}
          <p class="mute">
            {times}, as in this screening, private if it was: a new screening, from the usual allowance.
          </p>
        </Form>
      )}
    </>
  );
}

/**
 * Runs again what did not pass: all of it, or the `first` tasks, where the allowance had room for no more when the form was
 * shown. Returns what was made, as the interface tells it.
 */
export async function runAgain(api: Api, id: string, first: number | null, key: string | undefined): Promise<unknown> {
  if (first === null) return api.send("POST", `/api/v1/screening-sessions/${id}/rerun`, {}, key);
  const session = await api.read(`/api/v1/screening-sessions/${id}`, ScreeningSessionRead);
  const runs = await runsOf(api, session);
  const { open } = repeatable(runs, await tasksOf(api, tasksToRepeat(runs)));
  // Without a task it would be one of the whole catalogue.
  if (open.length === 0) return runAgain(api, id, null, key);
  const { agent_id, repeats, is_private } = session;
  const body = { agent_id, repeats, private: is_private, task_ids: open.slice(0, first) };
  return api.send("POST", "/api/v1/runs/batch", body, key);
}

interface AgainProps extends Pick<Session, "id" | "repeats"> {
  runs: readonly Run[];
  tasks: TasksById;
  allowance: Allowance;
}
