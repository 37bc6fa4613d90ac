import type { AuthClass } from "../../shared/http/route.ts";

/** Who may call, in the words of the contract's tables. */
export type Callers =
  | "open"
  | "refresh cookie"
  | "session"
  | "session or key"
  | "key (write) or session"
  | "owner"
  | "agent or owner"
  | "owner or member"
  | "open or session"
  | "open (anonymous trial), key (write) or session";

/** The auth classes that keep to the contract's words. Where ownership decides, the handler refuses on its own. */
export const CLASSES: Record<Callers, readonly AuthClass[]> = {
  open: ["open", "none"],
  "refresh cookie": ["none"],
  session: ["session"],
  "session or key": ["read"],
  "key (write) or session": ["write"],
  owner: ["write", "session"],
  "agent or owner": ["open"],
  "owner or member": ["open", "read"],
  "open or session": ["open"],
  "open (anonymous trial), key (write) or session": ["open"],
};

/** The endpoints built so far as the contract lists them: interface.md "Endpoints", decisions.md sections 7 and 8. */
export const ENDPOINTS: readonly [method: string, path: string, callers: Callers][] = [
  ["POST", "/api/v1/auth/register", "open"],
  ["POST", "/api/v1/auth/login", "open"],
  ["POST", "/api/v1/auth/refresh", "refresh cookie"],
  ["POST", "/api/v1/auth/logout", "session"],
  ["GET", "/api/v1/auth/me", "session or key"],
  ["PATCH", "/api/v1/auth/me", "session"],
  ["GET", "/api/v1/auth/sessions", "session"],
  ["DELETE", "/api/v1/auth/sessions", "session"],
  ["DELETE", "/api/v1/auth/sessions/{id}", "session"],
  ["POST", "/api/v1/auth/apply-team-override", "session"],
  ["POST", "/api/v1/auth/forgot-password", "open"],
  ["POST", "/api/v1/auth/reset-password", "open"],
  ["POST", "/api/v1/auth/verify-email", "open"],
  ["POST", "/api/v1/auth/resend-verification", "session"],
  ["GET", "/api/v1/auth/codehost", "open"],
  ["GET", "/api/v1/auth/codehost/callback", "open"],
  ["GET", "/api/v1/users/me/deletion", "session"],
  ["POST", "/api/v1/users/me/deletion", "session"],
  ["DELETE", "/api/v1/users/me/deletion", "session"],
  ["POST", "/api/v1/users/me/deletion/confirmation-link", "session"],
  ["POST", "/api/v1/api-keys", "session"],
  ["GET", "/api/v1/api-keys", "session"],
  ["GET", "/api/v1/api-keys/{id}", "session"],
  ["PATCH", "/api/v1/api-keys/{id}", "session"],
  ["DELETE", "/api/v1/api-keys/{id}", "session"],
  ["POST", "/api/v1/api-keys/{id}/rotate", "session"],
  ["POST", "/api/v1/csp-reports", "open"],
  ["GET", "/api/v1/agents", "open or session"],
  ["POST", "/api/v1/agents", "key (write) or session"],
  ["GET", "/api/v1/agents/{agent_id}", "open or session"],
  ["PATCH", "/api/v1/agents/{agent_id}", "owner"],
  ["DELETE", "/api/v1/agents/{agent_id}", "key (write) or session"],
  ["GET", "/api/v1/agents/{agent_id}/stats", "open"],
  ["GET", "/api/v1/agents/{agent_id}/screening-sessions", "open or session"],
  ["GET", "/api/v1/tasks", "open"],
  ["GET", "/api/v1/tasks/{task_id}", "open"],
  ["GET", "/api/v1/suites", "open"],
  ["GET", "/api/v1/suites/{id}", "open"],
  ["POST", "/api/v1/runs", "open (anonymous trial), key (write) or session"],
  ["POST", "/api/v1/runs/batch", "key (write) or session"],
  ["GET", "/api/v1/runs", "open or session"],
  ["GET", "/api/v1/runs/preflight", "open"],
  ["GET", "/api/v1/runs/{run_id}", "open or session"],
  ["PATCH", "/api/v1/runs/{run_id}", "agent or owner"],
  ["POST", "/api/v1/runs/{run_id}/cancel", "owner"],
  ["GET", "/api/v1/runs/{run_id}/phases", "open or session"],
  ["GET", "/api/v1/runs/{run_id}/output", "owner or member"],
  ["GET", "/api/v1/runs/{run_id}/evidence", "open or session"],
  ["GET", "/api/v1/screening-sessions/{session_id}", "open or session"],
  ["GET", "/api/v1/leaderboard", "open"],
  ["POST", "/api/v1/evidence/verify", "open"],
  ["GET", "/.well-known/jwks.json", "open"],
  ["GET", "/.well-known/did.json", "open"],
  ["GET", "/.well-known/http-message-signatures-directory", "open"],
  ["GET", "/healthz", "open"],
  ["GET", "/readyz", "open"],
  ["GET", "/openapi.json", "open"],
  ["GET", "/", "open"],
  ["GET", "/agents/{agent_id}", "open"],
];
