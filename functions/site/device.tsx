import * as z from "zod";
import { MAX_KEYS } from "../../shared/identity/api-keys/create.ts";
import { ApiKeyRead } from "../../shared/identity/api-keys/schemas.ts";
import { DeviceAsking } from "../../shared/identity/device/schemas.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { Moment } from "./parts/moment.tsx";
import { attempt, Field, Refused, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/device";
const API = "/api/v1/auth/device";
const LABELS = { user_code: "Code" };
/** The last key that an account can have; those in force are listed first. */
const LAST_KEY = `/api/v1/api-keys?page_size=1&page=${MAX_KEYS}`;
const Keys = z.object({ items: z.array(ApiKeyRead) });

/** Asks for the code. It is sent by GET, as the link in the terminal does: nothing changes before somebody decides. */
function TypeCode({ code, wrong }: { code: string; wrong?: Wrong | undefined }) {
  return (
    <Layout title={wrong === undefined ? "Let a program in" : "Error: let a program in"} own={PATH}>
      <h1>Let a program in</h1>
      <Refused wrong={wrong} labels={LABELS} />
      <p>
        Type the code that the program shows, such as <code>agent-screening login</code> in your terminal.
      </p>
      <form method="get" action={PATH}>
        <Field label={LABELS.user_code} name="user_code" value={code} hint="Eight letters" wrong={wrong} />
        <p>
          <button type="submit">Go on</button>
        </p>
      </form>
    </Layout>
  );
}

function Decide({ asking, email }: { asking: z.output<typeof DeviceAsking>; email: string }) {
  const { user_code: code, client_name, user_agent, same_network, created_at } = asking;
  return (
    <Layout title="A program asks for a key" own={PATH}>
      <h1>A program asks for a key of your account</h1>
      <Notice kind="bad">
        <p>
          <strong>Did you start it yourself, just now?</strong> Refuse if somebody sent you this link or this code,
          whoever they say they are: nobody of ours ever does, and whoever started the program gets the key.
        </p>
      </Notice>
      <dl>
        <dt>Your account</dt>
        <dd>
          <bdi>{email}</bdi>
        </dd>
        <dt>Code that it has to show</dt>
        <dd>
          <code>{code}</code>
        </dd>
        <dt>What it calls itself</dt>
        <dd>
          <bdi>{client_name}</bdi>
          {user_agent !== null && (
            <>
              {" "}
              <span class="mute">
                (<bdi>{user_agent}</bdi>)
              </span>
            </>
          )}
        </dd>
        <dt>From where</dt>
        <dd>
          {same_network ? (
            "the network that you are in now"
          ) : (
            <strong>another network than the one you are in now</strong>
          )}
        </dd>
        <dt>Since when</dt>
        <dd>
          <Moment time={created_at} />
        </dd>
        <dt>What it gets</dt>
        <dd>
          an API key that reads and changes what is yours, such as agents, and starts screenings. It stands among{" "}
          <a href="/settings/api-keys">your keys</a>, where you can revoke it.
        </dd>
      </dl>
      <form method="post" action={PATH}>
        <input type="hidden" name="user_code" value={code} />
        <p>
          <button type="submit" name="do" value="allow">
            Allow
          </button>{" "}
          <button type="submit" class="quiet" name="do" value="refuse">
            Refuse
          </button>
        </p>
      </form>
    </Layout>
  );
}

async function show({ c, api, query }: Visit): Promise<Response> {
  const code = query.get("user_code") ?? "";
  if (code === "") {
    await api.read("/api/v1/auth/me", UserRead);
    return personal(c, <TypeCode code="" />);
  }
  const found = await attempt(["user_code"], () =>
    Promise.all([
      api.read(`${API}?user_code=${encodeURIComponent(code)}`, DeviceAsking),
      api.read("/api/v1/auth/me", UserRead),
    ]),
  );
  if (found instanceof Wrong) return personal(c, <TypeCode code={code} wrong={found} />, found.status);
  const [asking, { email }] = found;
  return personal(c, <Decide asking={asking} email={email} />);
}

async function decide({ c, api, form }: Visit): Promise<Response> {
  const user_code = form.get("user_code") ?? "";
  const allow = form.get("do") === "allow";
  const result = await attempt(["user_code"], () => api.send("POST", `${API}/decision`, { user_code, allow }));
  if (result instanceof Wrong) return personal(c, <TypeCode code={user_code} wrong={result} />, result.status);
  const last = allow ? (await api.read(LAST_KEY, Keys)).items[0] : undefined;
  const full = last !== undefined && last.revoked_at === null;
  return personal(
    c,
    <Layout title={allow ? "Allowed" : "Refused"} own={PATH}>
      <h1>{allow ? "The program is let in" : "The program is refused"}</h1>
      <Notice kind={full ? "bad" : "good"} alert>
        <p>
          {full
            ? `Your account has ${MAX_KEYS} keys, and can have no more. If the program got none, revoke one and let it ask again.`
            : allow
              ? "It has its key in a few seconds. Go back to it."
              : "It gets no key, and learns that it was refused."}
        </p>
      </Notice>
      <p>
        <a href="/settings/api-keys">Your API keys</a>
      </p>
    </Layout>,
  );
}

export const devicePages: readonly View[] = [view({ path: PATH, title: "Let a program in", show, take: decide })];
