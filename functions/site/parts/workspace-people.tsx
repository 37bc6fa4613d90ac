import type * as z from "zod";
import { TEAM_ROLES } from "../../../shared/db/schema/index.ts";
import type { TeamInvitationRead, TeamMemberRead } from "../../../shared/teams/shown.ts";
import { Day } from "../layout.tsx";
import { Choose, Field, Form, type Wrong } from "./form.tsx";
import { Table } from "./notice.tsx";
import { RowAction } from "./row-action.tsx";

type Member = z.output<typeof TeamMemberRead>;

/** The roles that can be given: the owner's is handed over. */
const GRANTED = TEAM_ROLES.filter((role) => role !== "owner");

const nameOf = ({ username, email }: Member): string => username ?? email;

/** Who is in the workspace; with the ways to change that, for those who may. */
export function Members({
  members,
  path,
  me,
  manages,
}: {
  members: readonly Member[];
  path: string;
  me: string;
  manages: boolean;
}) {
  return (
    <Table label="Members" columns={[["Member", "wide"], "Joined", "Role", ["End", "mute"]]}>
      {members.map((member) => (
        <tr>
          <td class="wide">
            <bdi>{nameOf(member)}</bdi>
            {member.user_id === me && <span class="tag">you</span>}
          </td>
          <td>
            <Day time={member.joined_at} />
          </td>
          <td>
            {manages && member.role !== "owner" ? (
              <form method="post" action={path}>
                <input type="hidden" name="do" value="role" />
                <input type="hidden" name="id" value={member.user_id} />
                <select name="role" aria-label={`Role of ${nameOf(member)}`}>
                  {GRANTED.map((role) => (
                    <option value={role} selected={role === member.role}>
                      {role}
                    </option>
                  ))}
                </select>{" "}
                <button type="submit" class="quiet" aria-label={`Set the role of ${nameOf(member)}`}>
                  Set
                </button>
              </form>
            ) : (
              member.role
            )}
          </td>
          <td>
            {member.role !== "owner" && (manages || member.user_id === me) && (
              <RowAction
                action={path}
                id={member.user_id}
                wish={member.user_id === me ? "leave" : "remove"}
                label={member.user_id === me ? "Leave" : "Remove"}
                of={nameOf(member)}
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Whom the workspace waits for, and a form to invite somebody. */
export function Invitations({
  invitations,
  path,
  typed,
  wrong,
}: {
  invitations: readonly z.output<typeof TeamInvitationRead>[];
  path: string;
  typed: URLSearchParams | undefined;
  wrong: Wrong | undefined;
}) {
  const open = invitations.filter(({ status }) => status === "pending");
  return (
    <>
      <h2>Invitations</h2>
      {open.length > 0 && (
        <Table label="Open invitations" columns={[["Address", "wide"], "Role", "Until", ["End", "mute"]]}>
          {open.map(({ id, email, role, expires_at }) => (
            <tr>
              <td class="wide">{email}</td>
              <td>{role}</td>
              <td>
                <Day time={expires_at} />
              </td>
              <td>
                <RowAction action={path} id={id} wish="revoke" label="Revoke" of={email} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Form action={path} button="Invite" once>
        <input type="hidden" name="do" value="invite" />
        <Field label="Email address" name="email" type="email" value={typed?.get("email")} wrong={wrong} />
        <Choose
          label="Role"
          name="role"
          value={typed?.get("role") ?? "member"}
          options={GRANTED.map((role) => [role, role] as const)}
          hint="A viewer reads; a member also sees outputs, a runner also screens, an editor also changes agents, an admin also invites."
          wrong={wrong}
        />
      </Form>
    </>
  );
}
