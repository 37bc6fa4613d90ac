import { expect } from "vitest";
import type { Caller } from "../../stack/client.ts";
import { from, KEY, unique } from "../runs/support.ts";

export const SUBMISSIONS = "/api/v1/task-submissions";
export const ACTIONS = ["approve", "reject", "withdraw"] as const;

export type Action = (typeof ACTIONS)[number];

/** The least that a proposal needs. */
export const LEAST = {
  title: "Six times seven",
  domain: "math",
  prompt: "What is six times seven?",
  grader: { type: "exact" },
  expected_output: KEY,
};
const BODIES: Record<Action, object | undefined> = { approve: {}, reject: { reason: "Too easy" }, withdraw: undefined };

let addresses = 0;

/** Calls from an address of its own, so that no limit is met here. */
export function call(by: Caller, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  addresses += 1;
  return by.call(method, path, body, { ...from(addresses), ...headers });
}

/** Proposes a task that differs from the least in these fields. */
export const propose = (by: Caller, fields: object = {}) =>
  call(by, "POST", SUBMISSIONS, { ...LEAST, title: unique("Proposal"), ...fields });

/** Proposes a task and returns the id of the submission. */
export async function newSubmission(by: Caller, fields: object = {}): Promise<string> {
  const { status, body, text } = await propose(by, fields);
  expect(status, text).toBe(201);
  return body.id;
}

/** Takes an action on a submission, with a body that is good unless the test says otherwise. */
export const act = (action: Action, id: string, by: Caller, body = BODIES[action]) =>
  call(by, "POST", `${SUBMISSIONS}/${id}/${action}`, body);
