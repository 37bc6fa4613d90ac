import type { User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import { from } from "../runs/support.ts";

export const TEAMS = "/api/v1/teams";

let places = 0;

/** The same users, calling from another place, so that no limit is shared with what they did before. */
export function elsewhere<T extends User[]>(users: T): T {
  places += 1;
  const headers = from(places);
  const moved = ({ call, ...user }: User): User => ({
    ...user,
    call: (method, path, body, more) => call(method, path, body, { ...headers, ...more }),
  });
  return users.map(moved) as T;
}

/** Makes a workspace of `owner` with these members beside, by role; returns its id. */
export async function addTeam(service: TestService, owner: User, members: Record<string, User> = {}): Promise<string> {
  const { status, body, text } = await owner.call("POST", TEAMS, { name: "Team" });
  if (status !== 201) throw new Error(text);
  for (const [role, user] of Object.entries(members)) {
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
      body.id,
      user.id,
      role,
    ]);
  }
  return body.id;
}
