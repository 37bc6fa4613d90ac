import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "../../typescript/src/client.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import type { Send } from "../../typescript/src/retry.ts";
import { EXIT, Failure, reach } from "./failure.ts";
import { note, plain, type Terminal } from "./terminal.ts";

/** The longest name that the service takes. */
const MAX_NAME = 100;
/** What a program waits longer for once it is told to slow down, in seconds. */
const SLOWER = 5;

const REFUSED: Readonly<Record<string, string>> = {
  access_denied: "It was refused on the page, or whoever allowed it has signed out since; no key was made.",
  expired_token: "Nobody allowed it in time: run `agent-screening login` again.",
  quota_exceeded: "Your account has as many API keys as it can: revoke one on the settings page, and sign in again.",
};

/**
 * A key that a person allows on the service's page: prints the page's address and the code, opens the page where somebody
 * sits at a terminal, and asks until it is decided on. @throws Failure where it is refused or takes too long.
 */
export async function keyByPage(
  url: string,
  terminal: Terminal,
  { send = reach, wait = delay }: { send?: Send; wait?: (ms: number) => Promise<unknown> } = {},
): Promise<string> {
  const client = createClient({ baseUrl: url, fetch: send, retries: 0 });
  const asked = await given(
    client.POST("/api/v1/auth/device", {
      body: { client_name: hostname().slice(0, MAX_NAME) || "command line" },
      headers: { "user-agent": `agent-screening (${process.platform} ${process.arch})` },
    }),
  );
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in } = asked;
  note(terminal, `Open ${plain(verification_uri_complete)}`);
  note(terminal, `or type the code ${plain(user_code)} at ${plain(verification_uri)}, and allow it there.`);
  if (terminal.stdout.isTTY === true && process.stdin.isTTY) openPage(verification_uri_complete, url, terminal);
  const until = Date.now() + expires_in * 1000;
  for (let pause = asked.interval; ; ) {
    await wait(pause * 1000);
    try {
      const { key } = await given(client.POST("/api/v1/auth/device/token", { body: { device_code } }));
      if (key === null) throw new Failure(EXIT.service, "The service did not show the new key; sign in again.");
      return key;
    } catch (error) {
      pause = pauseAfter(error, pause, until);
    }
  }
}

/** How long to wait before asking again, in seconds. @throws the error where that would not help. */
function pauseAfter(error: unknown, pause: number, until: number): number {
  const code = error instanceof ServiceError ? error.code : "";
  if (code === "authorization_pending") return pause;
  if (code === "slow_down") return pause + SLOWER;
  const reason = REFUSED[code];
  if (reason !== undefined) throw new Failure(EXIT.notAllowed, reason);
  const isPassing = error instanceof ServiceError ? error.status === 429 || error.status >= 500 : true;
  if (!isPassing || Date.now() + 2 * pause * 1000 > until) throw error;
  return 2 * pause;
}

/** Opens the page in the browser of this machine, if there is one; the address stands in the terminal in any case. */
function openPage(page: string, url: string, { env }: Terminal): void {
  // Nothing is handed to a program of this machine but an address of the service that was named.
  if (!URL.canParse(page) || new URL(page).origin !== new URL(url).origin) return;
  const [program, ...args] = openerOf(env);
  if (program === undefined) return;
  spawn(program, [...args, new URL(page).href], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

/** What opens an address on this machine; nothing on a Linux without a screen, as at the end of an SSH connection. */
function openerOf(env: Terminal["env"]): readonly string[] {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return (env["DISPLAY"] ?? "") === "" && (env["WAYLAND_DISPLAY"] ?? "") === "" ? [] : ["xdg-open"];
}
