import { openSecret } from "../../../shared/epochs/secret.ts";
import { mintableOf } from "../../../shared/suites/minted.ts";
import { mintInstance } from "../../../shared/templates/mint.ts";
import type { Instance } from "../../../shared/templates/types.ts";
import { MINTING, openMinting } from "../../../shared/catalogue/minting.ts";
import type { TestService } from "../../stack/service.ts";
import { TEST_KEYS } from "../../stack/vitest-setup.ts";

/** A task as the database holds it. */
export interface TaskRow {
  id: string;
  slug: string | null;
  suite_id: string;
  suite_version: number;
  position: number;
  title: string;
  domain: string;
  prompt: string;
  input: unknown;
  output_format: string;
  output_schema: unknown;
  tools: unknown;
  grader: { type: string };
  expected_output: unknown;
  is_active: boolean;
  is_secret: boolean;
}

/** The tasks that meet a condition, suite by suite, in their order. */
export function tasksWhere(service: TestService, where: string, params: unknown[] = []): Promise<TaskRow[]> {
  return service.sql<TaskRow>(`select * from tasks where ${where} order by suite_id, position, created_at, id`, params);
}

/** What a run of a secret task that was taken up is asked, drawn anew from the secret of its sealed epoch. */
export async function sealedInstance(service: TestService, run: string): Promise<Instance> {
  const [row] = await service.sql<{ slug: string; sealed: string }>(
    `select t.slug, e.sealed from runs r join tasks t on t.id = r.task_id and t.is_secret
     join epochs e on e.kind = 'sealed' and e.name = r.epoch where r.id = $1`,
    [run],
  );
  const template = mintableOf(row?.slug.replace(/-v\d+-/, "-") ?? "", true);
  if (row === undefined || template === undefined) throw new Error("the run has no sealed instance");
  return mintInstance(template, openSecret(row.sealed, TEST_KEYS), run);
}

/** The task of a run with what the run was asked in the place of its own text. */
export async function askedOf(service: TestService, run: string): Promise<TaskRow> {
  const [task] = await service.sql<TaskRow>("select t.* from runs r join tasks t on t.id = r.task_id where r.id = $1", [
    run,
  ]);
  if (task === undefined) throw new Error("there is no such run");
  const { template: _template, world: _world, ...asked } = await sealedInstance(service, run);
  return { ...task, ...asked };
}

/** Reserves one run of each task for an agent as its certification does. They wait for `carryOut`. */
export async function reserveCertification(
  service: TestService,
  agent: string,
  tasks: readonly string[],
): Promise<{ session: string; runs: string[] }> {
  const rows = await service.sql<{ session: string; run: string }>(
    `with session as (
       insert into screening_sessions (agent_id, user_id, team_id, trigger, task_plan, repeats)
       select a.id, a.user_id, a.team_id, 'certification', (
         select jsonb_agg(jsonb_build_object('task_id', t.id, 'suite_version', t.suite_version, 'position', w.n) order by w.n)
         from unnest($2::uuid[]) with ordinality w(id, n) join tasks t on t.id = w.id), 1
       from agents a where a.id = $1 returning *
     ), reserved as (
       insert into runs (agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, user_id,
         scope, team_id, suite_id)
       select s.agent_id, t.id, 'certification', s.id, w.n, 1, 1, s.user_id,
         case when s.team_id is null then 'personal' else 'team' end, s.team_id, t.suite_id
       from session s cross join unnest($2::uuid[]) with ordinality w(id, n) join tasks t on t.id = w.id
       returning *
     ), owed as (
       insert into outbox (consumer, id, body, flow_key)
       select 'dispatch', id, jsonb_build_object('run_id', id), agent_id::text from reserved
     )
     select screening_session_id as session, id as run from reserved order by position`,
    [agent, tasks],
  );
  return { session: rows[0]?.session ?? "", runs: rows.map(({ run }) => run) };
}

/** Carries out what was reserved, to the end. */
export async function carryOut(service: TestService): Promise<void> {
  await service.sql("update outbox set due_at = now()");
  await service.app.scheduled("* * * * *");
  await service.settled();
}

/** The secret that the secret suites of this service's database are minted with. */
export async function mintingSecretOf(service: TestService): Promise<Uint8Array> {
  const [row] = await service.sql<{ sealed: string }>("select sealed from service_secrets where name = $1", [MINTING]);
  return openMinting(row?.sealed ?? "", TEST_KEYS);
}
