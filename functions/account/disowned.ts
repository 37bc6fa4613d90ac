import { disownCustomers } from "../../shared/billing/disown.ts";
import type { DisownInDomain } from "../../shared/identity/passwords/disown.ts";
import { disownListings, disownPages, disownSellers } from "../../shared/marketplace/disown.ts";
import { disownInvitations } from "../../shared/teams/invitations/disown.ts";
import { disownMembers } from "../../shared/teams/members/disown.ts";
import { disownReceivers } from "../../shared/telemetry/disown.ts";
import { disownSubscriptions } from "../../shared/webhooks/disown.ts";

/** What else a stranger loses, besides sessions and API keys, when the owner of an address claims the account. */
export const DISOWNED: readonly DisownInDomain[] = [
  disownReceivers,
  disownSubscriptions,
  disownInvitations,
  disownMembers,
  disownSellers,
  disownListings,
  disownPages,
  disownCustomers,
];
