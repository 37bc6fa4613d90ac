import * as z from "zod";
import { EpochRead } from "../../shared/epochs/shown.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { decodeBundle } from "../../shared/tlog/bundle.ts";
import { parseCheckpoint } from "../../shared/tlog/checkpoint.ts";
import { TILE_WIDTH, tilePath } from "../../shared/tlog/tile.ts";
import { Layout, page } from "./layout.tsx";
import { Entry, LogEntry } from "./parts/log-entry.tsx";
import { Empty, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const SHOWN = 50;
/** More than are not revealed yet, so that the page shows some that are: 14 ahead, the running one, and those of a week. */
const EPOCHS = 30;
const EpochPage = z.object({ items: z.array(EpochRead), total: z.number() });
type Epoch = z.output<typeof EpochRead>;

interface Placed {
  place: number;
  entry: z.output<typeof Entry>;
}

/** The checkpoint as it is served; null while the log is empty. */
async function checkpointOf(api: Visit["api"]): Promise<string | null> {
  return (await unless("not_found", api.bytes("/log/checkpoint")))?.toString("utf8") ?? null;
}

/** The entries below `end`, newest first, from the bundles that anybody reads. */
async function entriesBelow(api: Visit["api"], end: number, size: number): Promise<Placed[]> {
  if (end === 0) return [];
  const first = Math.max(0, end - SHOWN);
  const bundles = [...new Set([Math.floor(first / TILE_WIDTH), Math.floor((end - 1) / TILE_WIDTH)])];
  const read = await Promise.all(
    bundles.map(async (index) => {
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
      const bundle = await api.bytes(`/log/tile/${tilePath({ level: "entries", index, width })}`);
      return decodeBundle(bundle).map((bytes, at) => ({ place: index * TILE_WIDTH + at, bytes }));
    }),
  );
  return read
    .flat()
    .filter(({ place }) => place >= first && place < end)
    .map(({ place, bytes }) => ({ place, entry: entryOf(bytes.toString("utf8")) }))
    .toReversed();
}

/** An entry as JSON. Whatever else stands in the log is shown as it is. */
function entryOf(text: string): z.output<typeof Entry> {
  return Entry.safeParse(JSON.parse(text)).data ?? { kind: "other", text };
}

function Entries({ entries, size }: { entries: readonly Placed[]; size: number }) {
  const last = entries.at(-1)?.place ?? 0;
  const newest = (entries[0]?.place ?? 0) + 1 === size;
  return (
    <>
      <Table
        label="Entries of the log"
        columns={[
          ["Place", "number"],
          ["What was said", "wide"],
        ]}
      >
        {entries.map(({ place, entry }) => (
          <tr>
            <td class="number">{place}</td>
            <td class="wide">
              <LogEntry entry={entry} />
            </td>
          </tr>
        ))}
      </Table>
      <p>
        {!newest && <a href="/log">Newest</a>} {last > 0 && <a href={`/log?before=${last}`}>Older</a>}
      </p>
    </>
  );
}

function EpochTable({ items }: { items: readonly Epoch[] }) {
  return (
    <Table label="Epochs" columns={["Epoch", ["Entry", "number"], ["Commitment", "wide"], ["Secret", "wide"]]}>
      {items.map(({ epoch, log_index, commitment, secret }) => (
        <tr>
          <td>{epoch}</td>
          <td class="number">{log_index}</td>
          <td class="wide">
            <code>{commitment}</code>
          </td>
          <td class="wide">{secret === null ? "not revealed yet" : <code>{secret}</code>}</td>
        </tr>
      ))}
    </Table>
  );
}

async function show({ api, ctx, query }: Visit): Promise<Reply> {
  const epochsAt = pageIn(query, "epochs");
  const [checkpoint, key, epochs] = await Promise.all([
    checkpointOf(api),
    api.bytes("/log/key"),
    api.read(`/api/v1/epochs?page_size=${EPOCHS}&page=${epochsAt}`, EpochPage),
  ]);
  const size = checkpoint === null ? 0 : parseCheckpoint(checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1)).size;
  const before = Number(/^\d{1,15}$/.exec(query.get("before") ?? "")?.[0] ?? size);
  const entries = await entriesBelow(api, Math.min(size, Math.max(1, before)), size);
  return page(
    <Layout title="The log">
      <h1>The log</h1>
      <p>
        Whatever the service signs enters an append-only Merkle log, so that what was said stays said. It has{" "}
        <strong>{size}</strong> {size === 1 ? "entry" : "entries"}. <a href="/verify">Verify a statement</a> against it,
        or <a href="/docs/guides/verify-evidence">follow it with a monitor</a>.
      </p>
      <h2>Its last state</h2>
      {checkpoint === null ? (
        <Empty>The log is still empty: what is signed first enters it within about a minute.</Empty>
      ) : (
        <pre>{checkpoint}</pre>
      )}
      <h2>Its key</h2>
      <p>
        Pin it once, from more than one place, and keep it with what you verify: who asks for it each time believes
        whoever answers. Keep a checkpoint, too: <a href="/verify">the page that verifies</a> shows whether the log
        still continues it.
      </p>
      <pre>{key.toString("utf8")}</pre>
      <pre>{`curl ${ctx.env.BASE_URL}/log/key > service.vkey
curl ${ctx.env.BASE_URL}/log/checkpoint > kept.checkpoint`}</pre>
      <h2>Entries</h2>
      {entries.length === 0 ? <Empty>There are none yet.</Empty> : <Entries entries={entries} size={size} />}
      <h2 id="epochs">Epochs</h2>
      <p>
        The secret that tasks are drawn by is committed to before its epoch begins, and revealed seven days after its
        end: then anybody can draw them again. The commitment is SHA-256 over the secret's bytes.
      </p>
      {epochs.total === 0 ? <Empty>No commitment has entered the log yet.</Empty> : <EpochTable items={epochs.items} />}
      <Pager page={epochsAt} last={Math.ceil(epochs.total / EPOCHS)} href={(at) => `/log?epochs=${at}#epochs`} />
    </Layout>,
  );
}

export const logPages: readonly View[] = [view({ path: "/log", title: "The log", show })];
