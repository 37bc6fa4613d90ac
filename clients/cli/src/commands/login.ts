import { createClient } from "../../../typescript/src/client.ts";
import { given, ServiceError } from "../../../typescript/src/problem.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure, reach } from "../failure.ts";
import { keyByPage } from "../device-login.ts";
import { keep, lineOfInput, provenToKeep, sendable, urlOf } from "../settings.ts";
import { print, type Terminal } from "../terminal.ts";

/** `login`: keeps an API key for a service, once the service has taken it. */
export const login = command({
  usage: "login [--key KEY] [--url URL]",
  about:
    "Shows an address and a code: open the address in any browser, sign in there and allow it, and this machine has an API\n" +
    "key of its own, which your settings page lists by the machine's name. --key takes one that you have; --key - reads it\n" +
    "from standard input. On the service of this machine, --new opens an account for trying things out, with a key.",
  options: {
    ...SERVICE,
    key: { type: "string", value: "KEY", about: "an API key that you have; - reads it from standard input" },
    new: { type: "boolean", about: "open an account on the service of this machine" },
  },
  async run(values, _none, terminal) {
    const url = urlOf(values.url, terminal);
    provenToKeep(terminal);
    const key = sendable(await keyBy(values, url, terminal));
    if (!key.startsWith("ask_"))
      throw new Failure(EXIT.usage, `An API key begins with ask_; make one at ${url}/settings.`);
    const { email, plan } = await holderOf(url, key);
    const file = keep(terminal, url, key);
    if (values.json === true) print(terminal, JSON.stringify({ url, email, plan }));
    else {
      const who = email === null ? "by a workspace's key" : `as ${email} (${plan})`;
      print(terminal, `Signed in to ${url} ${who}; the key is kept in ${file}.`);
    }
    return EXIT.fine;
  },
});

/** Whose key it is; a workspace's is good, but speaks for nobody. */
async function holderOf(url: string, key: string): Promise<{ email: string | null; plan: string | null }> {
  try {
    return await given(createClient({ baseUrl: url, key, fetch: reach, retries: 2 }).GET("/api/v1/auth/me"));
  } catch (error) {
    if (error instanceof ServiceError && error.code === "forbidden") return { email: null, plan: null };
    throw error;
  }
}

function keyBy(values: { new?: boolean; key?: string }, url: string, terminal: Terminal): Promise<string> | string {
  if (values.new === true) return newAccount(url);
  if (values.key === "-") return lineOfInput("No key came on standard input.");
  return values.key ?? keyByPage(url, terminal);
}

/** An account on the service of this machine, where plans cost nothing, and a key of it. */
async function newAccount(url: string): Promise<string> {
  if (!/^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname)) {
    throw new Failure(
      EXIT.usage,
      `--new is for a service on this machine. Sign up at ${url}/sign-up, and make a key there.`,
    );
  }
  const account = { email: `dev-${Date.now()}@example.test`, password: crypto.randomUUID() };
  const { access_token } = await given(
    createClient({ baseUrl: url, fetch: reach, retries: 2 }).POST("/api/v1/auth/register", { body: account }),
  );
  const client = createClient({ baseUrl: url, key: access_token, fetch: reach, retries: 2 });
  // Without a payment key, plans are changed at once and for nothing; with one, the account stays on the free plan.
  await client.POST("/api/v1/billing/checkout", { body: { tier: "pro", cadence: "monthly" } });
  const { key } = await given(client.POST("/api/v1/api-keys", { body: { name: "command line", scope: "write" } }));
  if (key === null) throw new Failure(EXIT.service, "The service did not show the new key; try again.");
  return key;
}
