import type { FollowInDomain } from "../../shared/identity/emails/confirm.ts";
import { followInvitations } from "../../shared/teams/invitations/follow.ts";
import { followInterest } from "../../shared/waitlist/follow.ts";

/** What else is kept under an account's address, and follows it to another one. */
export const FOLLOWED: readonly FollowInDomain[] = [followInvitations, followInterest];
