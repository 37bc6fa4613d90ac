import type { Reply } from "../../shared/http/reply.ts";
import type { Changes } from "../document/changes.ts";
import { Layout } from "./layout.tsx";
import { lasting } from "./parts/lasting.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import { readReference, slugOf } from "./reference/document.ts";

const TITLES = {
  operation: "Operations that take or answer more",
  sent: "What may be sent, by schema",
  answered: "What is answered, by schema",
} as const;

function Additions({ kind, additions }: { kind: keyof typeof TITLES; additions: Changes["additions"] }) {
  const rows = additions.filter((one) => one.kind === kind);
  if (rows.length === 0) return null;
  return (
    <Scroll label={TITLES[kind]}>
      <table>
        <caption>{TITLES[kind]}</caption>
        <tbody>
          {rows.map(({ subject, added }) => (
            <tr>
              <th scope="row">
                <code>{subject}</code>
              </th>
              <td class="wide">
                {added.map((one, index) => (
                  <>
                    {index > 0 && ", "}
                    <code>{one}</code>
                  </>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

async function show({ ctx }: Visit): Promise<Reply> {
  // Finding the changes takes every endpoint, so that it is done when the service is built.
  const { CHANGES } = await import("../document/changelog.static.ts");
  const { operations, additions } = CHANGES;
  const reference = await readReference(ctx);
  const known = new Map(reference.operations.map((one) => [`${one.method} ${one.path}`, one]));
  return lasting(
    <Layout title="What is new in the interface">
      <p>
        <a href="/docs">Interface</a>
      </p>
      <h1>What is new in the interface</h1>
      <p>
        All that version {reference.info.version} has and the last released interface has not, found by comparing the
        two. Nothing that the released one promises was taken away or changed: whoever was written for it goes on
        working.
      </p>
      <h2>New operations</h2>
      {operations.length === 0 && <Empty>There are none since the last release.</Empty>}
      <ul>
        {operations.map((call) => {
          const { tags: [tag = ""] = [], operationId, summary } = known.get(call) ?? {};
          return (
            <li>
              <a href={`/docs/${slugOf(tag)}#${operationId}`}>
                <code>{call}</code>
              </a>{" "}
              {summary}
            </li>
          );
        })}
      </ul>
      <h2>Additions to what there was</h2>
      {additions.length === 0 && <Empty>There are none since the last release.</Empty>}
      <Additions kind="operation" additions={additions} />
      <Additions kind="sent" additions={additions} />
      <Additions kind="answered" additions={additions} />
    </Layout>,
  );
}

export const changelogPages: readonly View[] = [
  view({ path: "/docs/changelog", title: "What is new in the interface", show }),
];
