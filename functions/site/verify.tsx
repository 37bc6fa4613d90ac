import type { Reply } from "../../shared/http/reply.ts";
import { Layout } from "./layout.tsx";
import { lasting } from "./parts/lasting.tsx";
import { Verdict } from "./parts/verdict.tsx";
import { scriptView } from "./parts/script.ts";
import { TextArea } from "./parts/text-area.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import { VERIFY, VERIFY_SOURCE } from "./verify-script.static.ts";

/** The same for everybody: what is pasted never leaves the browser. */
function show({ ctx }: Visit): Reply {
  return lasting(
    <Layout title="Verify" script={VERIFY}>
      <h1>Verify a statement</h1>
      <p>
        A signed statement of a run, the credential of an agent, a proof from the log, or a checkpoint that you kept: it
        is checked here, in your browser, step by step. What you paste is sent nowhere.
      </p>
      <form id="verify" hidden>
        <TextArea
          label="What to verify"
          name="given"
          rows={8}
          code
          hint="A compact JWS, the JSON of an evidence endpoint, a tlog-proof, or a signed checkpoint. A file can be dropped here, too."
        />
        <div class="field">
          <label for="file">Or a file</label>
          <input type="file" id="file" />
        </div>
        <details>
          <summary>The keys that it is checked with</summary>
          <p class="hint">
            They were read from this service. Who does not trust it puts those here that were pinned before.
          </p>
          <TextArea label="Public keys (jwks.json)" name="jwks" rows={5} code optional />
          <TextArea label="Key of the log (name+hash+key)" name="log_key" rows={3} code optional />
        </details>
        <p>
          <button type="submit">Verify</button>
        </p>
        <p id="ready" role="status" class="hint">
          The keys are being read.
        </p>
      </form>
      <Verdict base={ctx.env.BASE_URL} path="/api/v1/runs/RUN_ID/evidence?format=tlog-proof" />
      <p>
        <a href="/log">The log</a> shows what it has, and how to pin its key.{" "}
        <a href="/docs/guides/verify-evidence">The guide</a> says how to do the same in a program.
      </p>
    </Layout>,
  );
}

export const verifyPages: readonly View[] = [
  view({ path: "/verify", title: "Verify a statement", show }),
  scriptView("/verify.js", "The script that verifies", VERIFY_SOURCE),
];
