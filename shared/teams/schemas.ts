import * as z from "zod";
import { Email } from "../identity/schemas.ts";
import { line } from "../platform/line.ts";
import { GrantedRole } from "./shown.ts";

const name = line(120);

export const TeamCreate = z.strictObject({ name }).meta({ id: "TeamCreate" });
export const TeamUpdate = z.strictObject({ name: name.optional() }).meta({ id: "TeamUpdate" });
export const TeamMemberUpdate = z.strictObject({ role: GrantedRole }).meta({ id: "TeamMemberUpdate" });

export const TeamOwnershipTransfer = z
  .strictObject({ user_id: z.uuid().meta({ description: "A member of the workspace" }) })
  .meta({ id: "TeamOwnershipTransfer" });

export const TeamInvitationCreate = z
  .strictObject({ email: Email, role: GrantedRole })
  .meta({ id: "TeamInvitationCreate" });

export const TeamInvitationAccept = z
  .strictObject({ token: z.string().max(1000).meta({ description: "From the link of the mail" }) })
  .meta({ id: "TeamInvitationAccept" });
