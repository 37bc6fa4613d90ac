import type { Json } from "../../../shared/grading/schema.ts";
import { mathSolvers } from "../../unit/templates/solvers/math.ts";
import type { Asked } from "../../unit/templates/solvers/support.ts";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { type Caller, caller, PASSWORD, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";

/** What any of the protocols sends, as far as it is looked at here. */
interface Sent {
  id?: string;
  method?: string;
  task?: Partial<Asked> & { prompt: string };
  messages?: [{ content: string }];
  params?: { message?: { parts: { text?: string; data?: { output_format?: string } & Record<string, Json> }[] } };
}

/** What an outsider grades again from. */
export interface Published {
  jws: string;
  epoch_secret: string;
  response_base64: string | null;
  response_salt: string | null;
}

/** The right answer to an instance of the domain math, worked out from its text; null for any other task. */
export function solved({ prompt, input = null }: Partial<Asked> & { prompt: string }): Json {
  for (const solve of Object.values(mathSolvers)) {
    try {
      return solve({ prompt, input, tools: null, output_schema: null });
    } catch {
      // Written for another family.
    }
  }
  return null;
}

/** An agent that speaks what it is spoken to in, and answers what `think` makes of the right answer. */
export function speaking(think: (right: Json) => Json): Handler {
  return ({ body }) => {
    const sent = JSON.parse(body.toString()) as Sent;
    if (sent.task !== undefined) return json(200, { output: think(solved(sent.task)) });
    if (sent.messages !== undefined) {
      const [prompt = "", input] = sent.messages[0].content.split("\n\ninput:\n");
      const right = solved({ prompt, input: input === undefined ? null : (JSON.parse(input) as Json) });
      return json(200, { choices: [{ message: { content: text(think(right)) } }] });
    }
    const parts = partsBy(think, sent);
    const result = isNew(sent) ? { message: { parts } } : { kind: "message", parts };
    return json(200, { jsonrpc: "2.0", id: sent.id, result });
  };
}

/**
 * An agent that is at work when it is asked by A2A, and gives what `think` makes of the right answer once it is asked for
 * that; `beside` stands in the result beside it.
 */
export function later(think: (right: Json) => Json, beside: object = {}): Handler {
  let parts: object[] | null = null;
  return ({ body }) => {
    const sent = JSON.parse(body.toString()) as Sent;
    const task = (word: string) => ({
      ...(isNew(sent) ? {} : { kind: "task" }),
      id: "t-1",
      status: { state: isNew(sent) ? `TASK_STATE_${word.toUpperCase()}` : word },
    });
    const isAsked = sent.params?.message === undefined;
    if (!isAsked) parts = partsBy(think, sent);
    const first = isNew(sent) ? { task: task("working") } : task("working");
    const result = isAsked ? { ...task("completed"), artifacts: [{ parts }], ...beside } : first;
    return json(200, { jsonrpc: "2.0", id: sent.id, result });
  };
}

/** Whether it is A2A 1.0, not one before. */
const isNew = ({ method }: Sent) => method === "SendMessage" || method === "GetTask";

function partsBy(think: (right: Json) => Json, sent: Sent): object[] {
  const [first, second] = sent.params?.message?.parts ?? [];
  const input = second?.data?.output_format === undefined ? (second?.data ?? null) : null;
  const answer = text(think(solved({ prompt: first?.text ?? "", input })));
  return [{ ...(isNew(sent) ? {} : { kind: "text" }), text: answer }];
}

const text = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

/** Eight days later: the secrets of the epochs until now are published. */
export async function reveal(service: TestService, pass: (ms: number) => void): Promise<void> {
  pass(8 * 86_400_000);
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

/** The account with a session of today. */
export async function signedInAgain(service: TestService, user: User): Promise<User> {
  const { body } = await caller(service).call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD });
  return { ...user, token: body.access_token, ...caller(service, { authorization: `Bearer ${body.access_token}` }) };
}

/** What is public about a run, its output as `who` is shown it. */
export async function published(service: TestService, who: Caller | User, id: string): Promise<Published> {
  const anonymous = caller(service);
  const { body: evidence } = await anonymous.call("GET", `/api/v1/runs/${id}/evidence`);
  const { epoch } = evidence.statement.credentialSubject.instance ?? {};
  const { body: epochs } = await anonymous.call("GET", "/api/v1/epochs?page_size=100");
  const secrets = epochs.items as { epoch: string; secret: string | null }[];
  const { body: output } = await who.call("GET", `/api/v1/runs/${id}/output`);
  return {
    jws: evidence.jws,
    epoch_secret: secrets.find((one) => one.epoch === epoch)?.secret ?? "00".repeat(32),
    response_base64: output.response?.body_base64 ?? null,
    response_salt: output.response?.salt ?? null,
  };
}
