import type { TestService } from "../../stack/service.ts";

type Columns = Record<string, unknown>;

async function insert(service: TestService, table: string, row: Columns): Promise<Columns> {
  const names = Object.keys(row);
  const values = names.map((_name, index) => `$${index + 1}`);
  const [inserted] = await service.sql<Columns>(
    `insert into ${table} (${names.join(", ")}) values (${values.join(", ")}) returning *`,
    Object.values(row),
  );
  return inserted ?? {};
}

/** Puts a run where screening keeps it: completed and passed unless `columns` say otherwise. Returns its id; a later one is more recent. */
export async function insertRun(
  service: TestService,
  agent: string,
  task: string,
  columns: Columns = {},
): Promise<string> {
  const row = await insert(service, "runs", {
    agent_id: agent,
    task_id: task,
    status: "completed",
    trigger: "manual",
    scope: "personal",
    passed: true,
    finalized_at: new Date().toISOString(),
    ...columns,
  });
  return String(row["id"]);
}

/** Puts a span of a run where the receiver keeps it: a model call unless `columns` say otherwise. */
export async function insertSpan(
  service: TestService,
  agent: string,
  run: string,
  id: string,
  columns: Columns = {},
): Promise<void> {
  await insert(service, "spans", {
    run_id: run,
    agent_id: agent,
    span_id: id,
    kind: "model",
    name: "chat",
    started_at: new Date().toISOString(),
    duration_ms: 10,
    ...columns,
  });
}

/** Puts a version of an agent's architecture where scoring keeps it. Returns its hash. */
export async function insertVersion(
  service: TestService,
  agent: string,
  version: number,
  publicVersion: number | null,
  made: { models?: string[]; tools?: string[] } = {},
): Promise<string> {
  const row = await insert(service, "architecture_versions", {
    agent_id: agent,
    version,
    public_version: publicVersion,
    architecture_hash: version.toString(16).padStart(64, "0"),
    models: JSON.stringify(made.models ?? []),
    tools: JSON.stringify(made.tools ?? []),
    edges: "[]",
  });
  return String(row["architecture_hash"]);
}
