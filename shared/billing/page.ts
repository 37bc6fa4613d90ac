import type { Env } from "../platform/env.ts";

/** The address of a page of the frontend, where the provider sends the browser back to. */
export function frontendPage(env: Pick<Env, "FRONTEND_URL">, path: string): string {
  return `${env.FRONTEND_URL.replace(/\/+$/, "")}${path}`;
}
