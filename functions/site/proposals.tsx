import * as z from "zod";
import { SubmissionStatus, TaskSubmissionRead } from "../../shared/catalogue/submissions/schemas.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { readSuites } from "./parts/catalogue.ts";
import { attempt, Refused, Wrong } from "./parts/form.tsx";
import { Nav } from "./parts/nav.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { forOperators, OperatorsNav } from "./parts/operators.tsx";
import { Decision, PROPOSAL_LABELS, ProposalShown } from "./parts/proposal.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/admin/proposals";
const API = "/api/v1/task-submissions";
const PAGE = 20;

const Proposals = z.object({
  items: z.array(TaskSubmissionRead),
  total: z.number(),
  total_is_capped: z.literal(true).optional(),
});
type Proposal = z.output<typeof TaskSubmissionRead>;
type Status = z.output<typeof SubmissionStatus>;

/** Which part of the queue is looked at. */
interface Place {
  status: Status;
  page: number;
  /** The proposal that is shown whole. */
  id?: string | undefined;
}

interface Outcome {
  decided?: Proposal;
  typed?: URLSearchParams;
  wrong?: Wrong;
}

function placeOf(query: URLSearchParams): Place {
  return {
    status: SubmissionStatus.catch("pending").parse(query.get("status")),
    page: z.coerce
      .number()
      .int()
      .min(1)
      .max(100_000)
      .catch(1)
      .parse(query.get("page") ?? 1),
    id: z.uuid().safeParse(query.get("id")).data,
  };
}

function address({ status, page, id }: Place): string {
  const query = new URLSearchParams({ status, page: String(page), ...(id === undefined ? {} : { id }) });
  return `${PATH}?${query.toString()}`;
}

function Queue({ items, total, total_is_capped: isCapped, place }: z.output<typeof Proposals> & { place: Place }) {
  return (
    <Table
      label="Proposals"
      caption={`${isCapped === true ? "More than " : ""}${total} ${place.status}`}
      columns={[["Proposal", "wide"], "Domain", "Made"]}
    >
      {items.map(({ id, title, domain, flagged, created_at }) => (
        <tr>
          <td class="wide">
            <a href={`${address({ ...place, id })}#proposal`} {...(id === place.id ? { "aria-current": "true" } : {})}>
              <bdi>{title}</bdi>
            </a>
            {flagged && <span class="tag bad">flagged</span>}
          </td>
          <td>{domain.replaceAll("_", " ")}</td>
          <td>
            <Day time={created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function States({ current }: { current: Status }) {
  const addressOf = (status: Status): string => `${PATH}?status=${status}`;
  const ways = SubmissionStatus.options.map((status) => [addressOf(status), status] as const);
  return <Nav label="States" ways={ways} current={addressOf(current)} />;
}

async function show({ c, api, query }: Visit, { decided, typed, wrong }: Outcome = {}): Promise<Response> {
  const place = placeOf(query);
  const all = `${API}?status=${place.status}&page=${place.page}&page_size=${PAGE}`;
  const [queue, suites] = await Promise.all([api.read(all, Proposals), readSuites(api)]);
  const { items, total } = queue;
  const chosen = items.find(({ id }) => id === place.id);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Proposals" : "Error: proposals"} own="/admin">
      <h1>Proposed tasks</h1>
      <OperatorsNav current={PATH} />
      {decided !== undefined && (
        <Notice kind="good" alert>
          <p>
            <bdi>{decided.title}</bdi> is {decided.status}.
          </p>
        </Notice>
      )}
      <Refused wrong={wrong} labels={PROPOSAL_LABELS} />
      <States current={place.status} />
      {items.length === 0 ? (
        <Empty>
          <p>{place.page === 1 ? `No proposal is ${place.status}.` : "There are no further ones."}</p>
        </Empty>
      ) : (
        <Queue {...queue} place={place} />
      )}
      {(total > place.page * PAGE || (queue.total_is_capped === true && items.length === PAGE)) && (
        <p>
          <a href={address({ ...place, page: place.page + 1, id: undefined })}>Further proposals</a>
        </p>
      )}
      {chosen === undefined && place.id !== undefined && decided === undefined && (
        <Notice>
          <p>The proposal that you chose is no longer among these: somebody decided on it, or others came before it.</p>
        </Notice>
      )}
      {chosen !== undefined && (
        <section id="proposal" aria-labelledby="proposed">
          <h2 id="proposed">
            <bdi>{chosen.title}</bdi>
          </h2>
          <ProposalShown proposal={chosen} all={all} />
          {chosen.status === "pending" && (
            <Decision action={address(place)} proposal={chosen} suites={suites} typed={typed} wrong={wrong} />
          )}
        </section>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** What was typed as a number, where it is one; else as it stands, to be refused; nothing where nothing was typed. */
function numberOf(form: URLSearchParams, name: string): Record<string, unknown> {
  const text = form.get(name)?.trim() ?? "";
  if (text === "") return {};
  return { [name]: Number.isNaN(Number(text)) ? text : Number(text) };
}

async function decide(visit: Visit): Promise<Response> {
  const { api, form, query } = visit;
  const { id = "" } = placeOf(query);
  const suite = form.get("suite_id") ?? "";
  const [way, body] =
    form.get("do") === "approve"
      ? [
          "approve",
          {
            ...(suite === "" ? {} : { suite_id: suite }),
            ...numberOf(form, "time_limit_ms"),
            ...numberOf(form, "reference_cost_usd"),
          },
        ]
      : ["reject", { reason: form.get("reason") ?? "" }];
  const decided = await attempt(Object.keys(PROPOSAL_LABELS), async () =>
    TaskSubmissionRead.parse(await api.send("POST", `${API}/${id}/${way}`, body)),
  );
  return show(visit, decided instanceof Wrong ? { typed: form, wrong: decided } : { decided });
}

export const proposalPages: readonly View[] = [
  view({ path: PATH, title: "Proposed tasks", show: forOperators((visit) => show(visit)), take: forOperators(decide) }),
];
