import { isProblemCode, PROBLEMS } from "../../shared/platform/problem.ts";
import { ADVICE } from "../document/advice.ts";
import { Layout } from "./layout.tsx";
import { lasting } from "./parts/lasting.tsx";
import { Scroll } from "./parts/notice.tsx";
import { type View, view } from "./parts/view.ts";

function Code({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** Every problem, each at the anchor that its `type` leads to. */
function show() {
  const codes = Object.keys(PROBLEMS).filter(isProblemCode);
  return lasting(
    <Layout title="Problems">
      <p>
        <a href="/docs">Interface</a>
      </p>
      <h1>Problems</h1>
      <p>
        Errors are <code>application/problem+json</code> (RFC 9457). Programs go by <code>code</code>, which stays the
        same; <code>type</code> is the address of the code on this page. <code>detail</code> says what happened, and{" "}
        <code>errors</code> where in the request.
      </p>
      <Scroll label="Problems">
        <table>
          <caption>By status and code</caption>
          <thead>
            <tr>
              <th>Code</th>
              <th class="number">Status</th>
              <th class="wide">What it means, and what to do</th>
            </tr>
          </thead>
          <tbody>
            {codes.map((code) => (
              <tr>
                <th scope="row" id={code}>
                  <code>{code}</code>
                </th>
                <td class="number">{PROBLEMS[code][0]}</td>
                <td class="wide">
                  {PROBLEMS[code][1]}.
                  <br />
                  <Code text={ADVICE[code]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Layout>,
  );
}

export const problemPages: readonly View[] = [
  view({ path: "/docs/problems", title: "Every problem, by its code", show }),
];
