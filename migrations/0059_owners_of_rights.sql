CREATE INDEX "certifications_buyer_idx" ON "certifications" USING btree ("user_id") WHERE "certifications"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "scorecards_team_idx" ON "scorecards" USING btree ("team_id") WHERE "scorecards"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "team_invitations_email_idx" ON "team_invitations" USING btree ("email");--> statement-breakpoint
CREATE INDEX "team_invitations_inviter_idx" ON "team_invitations" USING btree ("invited_by") WHERE "team_invitations"."invited_by" is not null;