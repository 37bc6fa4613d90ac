import type { Env } from "./env.ts";

/** The pages of the frontend that mails and redirects lead to, `{id}` for an id. This service has one of its own at each. */
export const LED_TO = [
  "/accept-invitation",
  "/agents/{id}",
  "/agents/{id}/certify",
  "/auth/callback",
  "/billing",
  "/confirm-deletion",
  "/confirm-email",
  "/forgot-password",
  "/marketplace/purchases/{id}",
  "/marketplace/seller",
  "/reset-password",
  "/sessions/{id}",
  "/settings/deletion",
  "/settings/notifications",
  "/settings/passkeys",
  "/settings/schedules",
  "/settings/second-factor",
  "/settings/sessions",
  "/settings/webhooks",
  "/suites",
  "/verify-email",
] as const;

/** A page that mails or redirects lead to. */
export type FrontendPath = (typeof LED_TO)[number];

/** The address of such a page, with `id` in its path. */
export function frontendPage({ FRONTEND_URL }: Pick<Env, "FRONTEND_URL">, path: FrontendPath, id = ""): string {
  return FRONTEND_URL.replace(/\/+$/, "") + path.replace("{id}", () => id);
}

/** Where the frontend is, by the origin that browsers give its pages, and by its host name. */
export function frontendSite({ FRONTEND_URL }: Pick<Env, "FRONTEND_URL">): { origin: string; hostname: string } {
  const { origin, hostname } = new URL(FRONTEND_URL);
  return { origin, hostname };
}
