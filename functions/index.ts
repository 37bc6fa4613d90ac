import type { ExecutionContext } from "hono";
import { type Application, createApplication } from "./app.ts";

let application: Application | undefined;

/** The settings are parsed once for an isolate: they can't change while it lives. */
function applicationOf(env: Record<string, unknown>): Application {
  application ??= createApplication(env);
  return application;
}

export default {
  fetch(request: Request, env: Record<string, unknown>, execution: ExecutionContext): Response | Promise<Response> {
    return applicationOf(env).fetch(request, env, execution);
  },
  async scheduled(event: { cron: string }, env: Record<string, unknown>): Promise<void> {
    await applicationOf(env).scheduled(event.cron);
  },
};
