import type { Answer } from "../answer.ts";
import type { Job } from "../job.ts";

/** How an agent is reached back when it will report by callback. */
export interface Callback {
  deadline: string;
  url: string;
  token: string;
}

/** An answer read from a 200, why it can't be graded, or that it has to be asked for again. */
export type Reading = { kind: "answer"; answer: Answer } | Unusable | Pending;

/** Why an answer can't be graded; `detail` is for the agent's owner. */
export interface Unusable {
  kind: "failure";
  code: "agent_invalid_response" | "agent_reported_failure";
  detail: string;
}

/** The agent is still at work: the JSON body that asks for the answer later, and how to read what then comes. */
export interface Pending {
  kind: "pending";
  request: Record<string, unknown>;
  read(body: unknown): Reading;
}

/** One way to speak to an endpoint. */
export interface Protocol {
  /** The JSON body of the request; `callback` is what a commitment leaves out. */
  request(job: Job, callback: Callback): Record<string, unknown>;
  /** Reads the parsed body of a 200, whatever JSON it is. */
  read(body: unknown, job: Job): Reading;
  /** Whether 202 means that the agent will report by callback. */
  callsBack: boolean;
}
