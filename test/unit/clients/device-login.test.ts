import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { keyByPage } from "../../../clients/cli/src/device-login.ts";
import { Failure } from "../../../clients/cli/src/failure.ts";

const URL_OF = "https://service.test";
const CODES = {
  device_code: "secret",
  user_code: "WDJB-MJHT",
  verification_uri: `${URL_OF}/device`,
  verification_uri_complete: `${URL_OF}/device?user_code=WDJB-MJHT`,
  expires_in: 600,
  interval: 5,
};
/** What stands for no answer at all. */
const SILENCE = "silence";

/** Signs in where the service answers each poll by one of these: a problem's code, its status, or a key. */
async function signIn(answers: readonly string[]) {
  const left = [...answers];
  const seconds: number[] = [];
  let seen = "";
  const stderr = new Writable({ write: (chunk, _encoding, done) => done(void (seen += String(chunk))) });
  const key = await keyByPage(
    URL_OF,
    { env: {}, stdout: stderr, stderr },
    {
      wait: async (ms) => void seconds.push(ms / 1000),
      send: async ({ url }) => {
        if (url === `${URL_OF}/api/v1/auth/device`) return Response.json(CODES);
        const [code = "", status = "400"] = (left.shift() ?? "").split(" ");
        if (code === SILENCE) throw new Failure(3, "no answer");
        if (code.startsWith("ask_")) return Response.json({ key: code });
        return Response.json({ code, title: code, detail: code }, { status: Number(status) });
      },
    },
  ).catch((error: unknown) => (error instanceof Error ? `${error.constructor.name}: ${error.message}` : ""));
  return { key, seconds, seen };
}

it("signing in by a code shows it, and asks no oftener than it is told to, through every trouble that passes", async () => {
  const pending = "authorization_pending";
  const { key, seconds, seen } = await signIn([
    pending,
    "slow_down",
    SILENCE,
    "dependency_unavailable 503",
    pending,
    "ask_x",
  ]);
  expect([key, seconds]).toEqual(["ask_x", [5, 5, 10, 20, 40, 40]]);
  expect(seen).toBe(
    "Open https://service.test/device?user_code=WDJB-MJHT\n" +
      "or type the code WDJB-MJHT at https://service.test/device, and allow it there.\n",
  );
});

it.each([
  ["access_denied", /^Failure: It was refused on the page/],
  ["expired_token", /^Failure: Nobody allowed it in time/],
  ["quota_exceeded 402", /^Failure: Your account has as many API keys/],
  ["invalid_token", /^ServiceError: invalid_token/],
])("signing in by a code ends at once where that is final: %s", async (answer, said) => {
  const { key, seconds } = await signIn([answer, "ask_x"]);
  expect([key, seconds]).toEqual([expect.stringMatching(said), [5]]);
});
