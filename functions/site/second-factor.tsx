import type * as z from "zod";
import { RecoveryCodes, TotpBegun, TotpRead } from "../../shared/identity/second-factor/schemas.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { attemptCode, CODE_LABELS, CodeField } from "./parts/code.tsx";
import { COPY } from "./parts/copy.ts";
import { attempt, Form, Refused, Result, type Sent, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { QrCode } from "./parts/qr.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { ShownOnce } from "./parts/shown-once.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/second-factor";
const API = "/api/v1/users/me/totp";
const TITLE = "Second factor";
/** Longer than any address of a secret; a QR code holds no more than some 2,900 bytes. */
const MAX_ADDRESS = 1000;

type Totp = z.output<typeof TotpRead>;

function Active({ totp, wrong }: { totp: Totp; wrong: Wrong | undefined }) {
  return (
    <>
      <p>
        A code of your authenticator app is asked for when you sign in
        {totp.confirmed_at !== null && (
          <>
            , since <Day time={totp.confirmed_at} />
          </>
        )}
        . {totp.recovery_codes_left} of your recovery codes {totp.recovery_codes_left === 1 ? "is" : "are"} left; to get
        new ones, turn it off and set it up again.
      </p>
      <Form action={PATH} button="Turn it off" danger>
        <input type="hidden" name="do" value="remove" />
        <CodeField hint="The 6 digits that your app shows, or a recovery code" wrong={wrong} />
      </Form>
    </>
  );
}

function Inactive() {
  return (
    <>
      <p>
        With an authenticator app on your phone, nobody signs in to your account who knows its password alone. Any app
        that makes codes of 6 digits will do.
      </p>
      <Form action={PATH} button="Set up an app">
        <input type="hidden" name="do" value="begin" />
      </Form>
    </>
  );
}

async function show({ c, api }: Visit, { said, wrong }: Sent = {}): Promise<Response> {
  const totp = await api.read(API, TotpRead);
  return personal(
    c,
    <Layout title={wrong === undefined ? TITLE : `Error: ${TITLE.toLowerCase()}`} own="/settings">
      <h1>{TITLE}</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={CODE_LABELS} />
      {totp.active ? <Active totp={totp} wrong={wrong} /> : <Inactive />}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** The secret of a new app. The form has its address, as nothing hands it out again: a wrong code is then typed anew. */
function setUp({ c }: Visit, address: URL, wrong?: Wrong): Response {
  return personal(
    c,
    <Layout title={wrong === undefined ? "Set up an app" : "Error: set up an app"} own="/settings" script={COPY}>
      <h1>Set up an authenticator app</h1>
      <SettingsNav current={PATH} />
      <Refused wrong={wrong} labels={CODE_LABELS} />
      <p>Scan this with the app, or type the secret into it. Nothing changes before you give a code below.</p>
      <QrCode text={address.href} label="QR code of the secret below" />
      <h2>The secret</h2>
      <ShownOnce
        id="secret"
        label="Secret"
        text={(address.searchParams.get("secret")?.match(/.{1,4}/g) ?? []).join(" ")}
      />
      <p>
        <a href={address.href}>Open it in an app on this device</a>
      </p>
      <Form action={PATH} button="Turn it on">
        <input type="hidden" name="do" value="confirm" />
        <input type="hidden" name="otpauth_url" value={address.href} />
        <CodeField hint="The 6 digits that the app shows now" wrong={wrong} />
      </Form>
      <p>
        <a href={PATH}>{wrong === undefined ? "Leave it off" : "Begin again, or leave it off"}</a>
      </p>
    </Layout>,
    wrong?.status ?? 200,
  );
}

function turnedOn({ c }: Visit, { recovery_codes: codes }: z.output<typeof RecoveryCodes>): Response {
  return personal(
    c,
    <Layout title="Recovery codes" own="/settings" script={COPY}>
      <h1>Your recovery codes</h1>
      <SettingsNav current={PATH} />
      <Notice kind="good" alert>
        <p>
          The second factor is on. <strong>Keep these codes</strong>: each gets you in once without the app, and they
          are shown this once.
        </p>
      </Notice>
      <ShownOnce id="codes" label="Recovery codes" text={codes.join("\n")} file="recovery-codes.txt" />
      <p>
        <a class="button" href={PATH}>
          I have kept them
        </a>
      </p>
    </Layout>,
  );
}

/** The address of a secret as this page's form has it; null for any other text. */
function addressOf(text: string | null): URL | null {
  if (text === null || text.length > MAX_ADDRESS || !URL.canParse(text)) return null;
  const address = new URL(text);
  return address.protocol === "otpauth:" && address.searchParams.get("secret") !== null ? address : null;
}

async function begin(visit: Visit): Promise<Response> {
  const result = await attempt([], async () => TotpBegun.parse(await visit.api.send("POST", API)));
  return result instanceof Wrong ? show(visit, { wrong: result }) : setUp(visit, new URL(result.otpauth_url));
}

async function confirm(visit: Visit): Promise<Response> {
  const { api, form } = visit;
  const address = addressOf(form.get("otpauth_url"));
  if (address === null) return show(visit);
  const body = { code: form.get("code") ?? "" };
  const result = await attemptCode(async () => RecoveryCodes.parse(await api.send("POST", `${API}/confirm`, body)));
  if (!(result instanceof Wrong)) return turnedOn(visit, result);
  if (result.status !== 404) return setUp(visit, address, result);
  // There is nothing to confirm: the first of two sendings did it, or the secret is gone with a factor taken away since.
  const { active } = await api.read(API, TotpRead);
  const said =
    "It is on already: the first of two sendings of the form did that, and its answer had the recovery codes. If you did " +
    "not see them, turn it off with a code of the app and set it up again.";
  return show(visit, active ? { said } : { wrong: result });
}

async function remove(visit: Visit): Promise<Response> {
  const body = { code: visit.form.get("code") ?? "" };
  const result = await attemptCode(() => visit.api.send("DELETE", API, body));
  if (!(result instanceof Wrong)) return show(visit, { said: "It is off. A password alone signs you in now." });
  // A form that was sent twice finds it taken away by the first.
  return show(visit, result.status === 404 ? { said: "It is off." } : { wrong: result });
}

const DEEDS = new Map([
  ["begin", begin],
  ["confirm", confirm],
  ["remove", remove],
]);

export const secondFactorPages: readonly View[] = [
  view({
    path: PATH,
    title: TITLE,
    show: (visit) => show(visit),
    take: (visit) => (DEEDS.get(visit.form.get("do") ?? "") ?? show)(visit),
  }),
];
