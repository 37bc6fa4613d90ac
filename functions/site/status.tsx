import { Readiness } from "../../shared/daily/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { Moment } from "./parts/moment.tsx";
import { Notice, Table } from "./parts/notice.tsx";
import { headersOf, problemOf } from "./parts/api.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const PARTS = {
  database: "Database",
  redis: "Counters and limits",
  queue: "Queue of runs and webhooks",
  messages: "What is handed to the queue",
  minting: "Tasks minted for each run",
  log: "Places in the public log",
};

/** How the service stands at this moment, so no cache keeps it. What is down is no fault of the page, which tells it with the status 200. */
async function show({ ctx, c, own }: Visit): Promise<Response> {
  const answer = await own(new Request(`${ctx.env.BASE_URL}/readyz`, { headers: headersOf(c, "stranger") }));
  const text = await answer.text();
  // A refusal says nothing of the service; what is down is told with a status of its own, and is no problem of the request.
  if (answer.headers.get("content-type") === "application/problem+json") throw problemOf(text, answer.headers);
  const { status, dependencies, minting, log, messages, daily } = Readiness.parse(JSON.parse(text));
  return personal(
    c,
    <Layout title="Status">
      <h1>Status</h1>
      <Notice kind={status === "ok" ? "good" : "bad"}>
        <p>
          <strong>{status === "ok" ? "Everything answers." : "Something does not answer."}</strong> As of{" "}
          <Moment time={ctx.now().toISOString()} />.
        </p>
      </Notice>
      <dl>
        {Object.entries(PARTS).map(([name, title]) => (
          <>
            <dt>{title}</dt>
            <dd>{{ ...dependencies, minting, log, messages }[name] ?? "unknown"}</dd>
          </>
        ))}
      </dl>
      {daily.length > 0 && (
        <>
          <h2>The daily work</h2>
          <Table label="The daily work" columns={["Work", "Last done", ["Fault since then", "wide"]]}>
            {daily.map(({ name, last_success_at, last_error, is_late }) => (
              <tr>
                <td>{name.replaceAll("-", " ")}</td>
                <td>
                  {last_success_at === null ? "never" : <Moment time={last_success_at} />}
                  {is_late && ", late"}
                </td>
                <td class="wide">{last_error ?? "none"}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
      <p class="mute">
        Programs read the same at <a href="/readyz">/readyz</a>.
      </p>
    </Layout>,
  );
}

export const statusPages: readonly View[] = [view({ path: "/status", title: "How the service stands", show })];
