/** The client of the agent screening service; `createClient` is where to begin. */
export { type ClientOptions, createClient, type ScreeningClient } from "./client.ts";
export type { SessionProgress, StreamEvent, StreamPath } from "./follow.ts";
export type { components, paths } from "./generated/service.ts";
export type { FilePath, RecordOf } from "./lines.ts";
export type { ItemOf, ListPath } from "./pages.ts";
export { given, type Problem, ServiceError } from "./problem.ts";
