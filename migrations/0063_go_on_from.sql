CREATE TABLE "cursors" (
	"name" text PRIMARY KEY NOT NULL,
	"cursor" uuid
);
--> statement-breakpoint
CREATE INDEX "certifications_unfinished_idx" ON "certifications" USING btree ("id") WHERE ("certifications"."status" = 'screening' or ("certifications"."status" = 'certified' and "certifications"."jws" is null));