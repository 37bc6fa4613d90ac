import * as z from "zod";
import { TEAM_ROLES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";

const TeamRole = z.enum(TEAM_ROLES).meta({
  description:
    "Each role may do what those before it may: `viewer` reads, `member` also sees outputs, `runner` also runs, checks " +
    "readiness and schedules, `editor` also changes agents, webhooks and scorecards, `admin` also manages members and " +
    "invitations, `owner` also renames, transfers and deletes",
});

/** The roles that can be given to a member: a workspace gets another owner only by a transfer. */
export const GrantedRole = TeamRole.exclude(["owner"]);

export const TeamRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    role: TeamRole.meta({ description: "The caller's" }),
    owner_id: z.uuid(),
    seats_used: z.int().meta({ description: "Members and open invitations" }),
    seats_limit: z.int(),
    monthly_run_count: z.int(),
    monthly_run_limit: z.int().meta({
      description: "By the plan of the workspace's owner; 0 if that plan does not include the workspace",
    }),
    created_at: Instant,
  })
  .meta({ id: "TeamRead" });

export const TeamMemberRead = z
  .object({
    user_id: z.uuid(),
    email: z.string(),
    username: z.string().nullable(),
    role: TeamRole,
    joined_at: Instant,
  })
  .meta({ id: "TeamMemberRead" });

export const TeamInvitationRead = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role: GrantedRole,
    status: z.enum(["pending", "accepted", "revoked", "expired"]),
    invited_by: z.uuid().nullable().meta({ description: "Null once that account is deleted" }),
    created_at: Instant,
    expires_at: Instant,
  })
  .meta({ id: "TeamInvitationRead" });
