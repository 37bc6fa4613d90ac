-- The same for any two plans of the same tasks, in whatever order. What is stored is made of it: a change of it needs the
-- index made anew.
create function planned_tasks(p_plan jsonb) returns text language sql immutable strict parallel safe as $$
  select md5(coalesce(string_agg(task, ',' order by task collate "C"), ''))
  from (select distinct planned ->> 'task_id' as task from jsonb_array_elements(p_plan) planned) t
$$;--> statement-breakpoint
CREATE INDEX "screening_sessions_same_tasks_idx" ON "screening_sessions" USING btree ("agent_id",planned_tasks("task_plan"),"finished_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "screening_sessions"."finished_at" is not null;
