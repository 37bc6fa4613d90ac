import type { GraderVersion } from "../../grading/types.ts";
import type { Answer } from "../answer.ts";
import type { Job } from "../job.ts";

/** How an agent reports by callback: by when, where to, and with which token. */
export interface Callback {
  deadline: string;
  url: string;
  token: string;
}

/** What a 200 was read as: an answer, why it can't be graded, or that it has to be asked for again later. */
export type Reading = { kind: "answer"; answer: Answer } | Unusable | Pending;

/** Why an answer can't be graded; `detail` is for the agent's owner. */
export interface Unusable {
  kind: "failure";
  code: "agent_invalid_response" | "agent_reported_failure";
  detail: string;
}

/** The agent is still working: the JSON body that asks for the answer later, and how to read what comes back. */
export interface Pending {
  kind: "pending";
  request: Record<string, unknown>;
  read(body: unknown): Reading;
}

/** What has to be known of a job to read its answer. */
export interface Asked {
  run: Pick<Job["run"], "id">;
  task: Pick<Job["task"], "output_format" | "tools">;
  /** By which version of the grading rules it is read; today's, unless an answer of before is graded again. */
  rules?: GraderVersion;
}

/** One way to speak to an endpoint. */
export interface Protocol {
  /** The JSON body of the request. Its member `callback`, if any, is left out of the commitment to it. */
  request(job: Job, callback: Callback): Record<string, unknown>;
  /** What every request to the agent says in its header, beside what all protocols say. */
  headers?: Readonly<Record<string, string>>;
  /**
   * The request to make in the place of one that the agent refused for its form, by the parsed body of its answer, whatever
   * its status; null where that says nothing of the kind.
   */
  inOtherForm?(body: unknown, job: Job): Record<string, unknown> | null;
  /** Reads the parsed body of a 200, which may be any JSON. */
  read(body: unknown, asked: Asked): Reading;
  /**
   * Reads the parsed body of a 200 to what a `Pending` asked for, whatever it asked for; where it is missing, `read` does.
   * No body is an answer by both, so that the bytes alone say what an agent answered.
   */
  readLater?(body: unknown, asked: Asked): Reading;
  /** Whether 202 means that the agent will report by callback. */
  callsBack: boolean;
}
