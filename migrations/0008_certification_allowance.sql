ALTER TABLE "certifications" ADD COLUMN "runs_included" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- What is open already was sold for the same price: it gets the runs of its plan, or of one that would begin now.
UPDATE "certifications" c SET "runs_included" = 5 * coalesce(
  (SELECT jsonb_array_length(s."task_plan") FROM "screening_sessions" s WHERE s."id" = c."screening_session_id"),
  (SELECT count(*)::integer FROM "tasks" t JOIN "suites" k ON k."id" = t."suite_id"
    WHERE t."is_active" AND (k."slug" = 'core' OR k."is_secret")))
WHERE c."status" IN ('awaiting_payment', 'screening', 'paused_quota');
