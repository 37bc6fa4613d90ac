DROP INDEX "runs_open_idx";--> statement-breakpoint
CREATE INDEX "runs_running_idx" ON "runs" USING btree ("started_at") WHERE "runs"."status" = 'running';--> statement-breakpoint
-- A page keeps room for the next version of its rows, so that an update of no indexed column touches no index.
ALTER TABLE "runs" SET (fillfactor = 75);
