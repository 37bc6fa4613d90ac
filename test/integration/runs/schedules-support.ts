import type { User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import { unique } from "./support.ts";

export const SCHEDULES = "/api/v1/screening-schedules";

/** The fields of a schedule that tests look at. */
export interface Schedule {
  id: string;
  user_id: string;
  is_active: boolean;
  waits_for_plan: boolean;
  next_run_at: string | null;
  last_run_at: string | null;
  last_screening_session_id: string | null;
  last_error: string | null;
}

/** Makes a workspace with members by their role; returns its id. */
export async function addTeam(service: TestService, owner: User, members: Record<string, User> = {}): Promise<string> {
  const [team] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ($1, $2) returning id", [
    unique("Team"),
    owner.id,
  ]);
  const id = team?.id ?? "";
  for (const [role, user] of Object.entries({ owner, ...members }))
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [id, user.id, role]);
  return id;
}

/** Schedules an agent's screening, every day at nine unless `fields` say otherwise. */
export async function addSchedule(by: User, agentId: string, fields: object): Promise<Schedule> {
  const body = { agent_id: agentId, cron: "0 9 * * *", ...fields };
  const answer = await by.call<Schedule>("POST", SCHEDULES, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}

/** Has every schedule that is written take its time from now on, so that writes meet unless they take turns. */
export async function slowDown(service: TestService): Promise<void> {
  await service.sql(`create function dawdle() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.03); return new; end $$`);
  await service.sql(`create trigger dawdle before insert or update on screening_schedules
    for each row execute function dawdle()`);
}
