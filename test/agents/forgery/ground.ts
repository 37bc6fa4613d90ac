import { type Caller, newUser, type User } from "../../stack/client.ts";
import { CUT, json, type Listening, listen } from "../../stack/http.ts";
import { type AgentRequest, type AnswerBody, Told } from "./mind.ts";

/** A running service, as far as forgers and their twins need it. */
export interface Service {
  url: string;
  sql<T extends object = Record<string, unknown>>(text: string, params?: unknown[]): Promise<T[]>;
  /** Resolves once nothing is under way. */
  settled(): Promise<void>;
}

/** What an agent does with a request: it answers, or hangs up. */
export type Mind = (asked: AgentRequest) => Promise<AnswerBody | typeof CUT> | AnswerBody | typeof CUT;

/** Where agents are screened: a service whose core is eight minted tasks. */
export interface Ground {
  service: Service;
  owner: User;
  /** Another owner, a stranger to the first. */
  stranger: User;
  /** One who owns nothing, and reads what is public. */
  anybody: Caller;
  /** The core's tasks, by their slugs. */
  tasks: Map<string, string>;
  /** Registers an agent with this mind; returns its id. */
  register(owner: User, mind: Mind, fields?: object): Promise<string>;
  /** Screens the agent on the whole core, or on these tasks, to the end; returns the ids of the runs. */
  screen(owner: User, agent: string, repeats: number, tasks?: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

/** The domains whose four tasks make up the core. */
const DOMAINS = ["math", "retrieval"];

/** Puts eight minted tasks in the place of the core, and two owners and an endpoint beside the service. */
export async function prepare(service: Service): Promise<Ground> {
  const minds: Mind[] = [];
  const endpoint: Listening = await listen(async ({ url, body }) => {
    const answer = await minds[Number(url.pathname.slice(1))]?.(Told.parse(JSON.parse(body.toString())));
    return answer === CUT || answer === undefined ? CUT : json(200, answer);
  });
  await service.sql(
    `update tasks set is_active = false where suite_id = (select id from suites where slug = 'core') and not domain = any($1)`,
    [DOMAINS],
  );
  const rows = await service.sql<{ id: string; slug: string }>(
    `select t.id, t.slug from tasks t join suites s on s.id = t.suite_id where s.slug = 'core' and t.is_active`,
  );
  const [suite] = await service.sql<{ id: string }>("select id from suites where slug = 'core'");
  return {
    service,
    ...(await newPeople(service)),
    tasks: new Map(rows.map(({ slug, id }) => [slug, id])),
    async register(who, mind, fields = {}) {
      minds.push(mind);
      const name = `Agent ${minds.length}`;
      const body = { name, endpoint: `${endpoint.url}/${minds.length - 1}`, ...fields };
      return ensured(await who.call<{ id: string }>("POST", "/api/v1/agents", body), 201).id;
    },
    async screen(who, agent, repeats, tasks) {
      const asked = tasks === undefined ? { suite_id: suite?.id } : { task_ids: tasks };
      const batch = { agent_id: agent, ...asked, repeats };
      const runs = ensured(await who.call<{ id: string }[]>("POST", "/api/v1/runs/batch", batch), 200);
      await service.settled();
      return runs.map(({ id }) => id);
    },
    close: () => endpoint.close(),
  };
}

/**
 * Owners and a reader whom nobody has met, so that no forgery meets the limits that another one has used up. The reader is
 * signed in: to others an isolate may show for some seconds what another one has changed.
 */
export async function newPeople(service: Service): Promise<Pick<Ground, "owner" | "stranger" | "anybody">> {
  return {
    owner: await newUser(service, { plan: "enterprise" }),
    stranger: await newUser(service, { plan: "enterprise" }),
    anybody: await newUser(service),
  };
}

/** The body of an answer with this status; throws what came instead. */
export function ensured<T>(answer: { status: number; body: T; text: string }, status: number): T {
  if (answer.status !== status) throw new Error(`${status} was expected, ${answer.status} came: ${answer.text}`);
  return answer.body;
}
