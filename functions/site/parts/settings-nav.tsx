import { Nav } from "./nav.tsx";

const PAGES = [
  ["/settings", "Profile"],
  ["/settings/password", "Password"],
  ["/settings/passkeys", "Passkeys"],
  ["/settings/second-factor", "Second factor"],
  ["/settings/sessions", "Sessions"],
  ["/settings/api-keys", "API keys"],
  ["/settings/webhooks", "Webhooks"],
  ["/settings/schedules", "Schedules"],
  ["/settings/usage", "Usage"],
  ["/settings/notifications", "Notifications"],
  ["/settings/plan", "Plan"],
  ["/settings/deletion", "Deletion"],
] as const;

/** The ways between the settings. */
export function SettingsNav({ current }: { current: string }) {
  return <Nav label="Settings" ways={PAGES} current={current} />;
}
