import { Buffer } from "node:buffer";
import type { JWK } from "jose";
import * as z from "zod";
import { commit } from "../evidence/commitment.ts";
import { verifyStatement } from "../evidence/verify.ts";
import { GRADER_VERSIONS, type GraderVersion, grade } from "../grading/grade.ts";
import { parseExact, stringifyExact } from "../platform/exact-json.ts";
import { parseJsonBounded } from "../platform/outbound/json.ts";
import { templatesById } from "../templates/index.ts";
import { instanceCommitment, instanceSalt, mintInstance } from "../templates/mint.ts";
import { type Instance, PASS_THRESHOLD } from "../templates/types.ts";
import { Answer } from "./answer.ts";
import { protocolOf } from "./protocols/index.ts";
import type { Asked, Reading } from "./protocols/protocol.ts";
import { Reported } from "./protocols/reading.ts";
import type { Regrading, RegradeRequest } from "./regrading.ts";

const Subject = z.object({
  run: z.object({
    id: z.string(),
    agent_protocol: z.enum(["native", "openai_chat", "a2a", "a2a_1"]),
    status: z.enum(["completed", "failed"]),
  }),
  task: z.object({
    is_secret: z.boolean(),
    template: z.object({ id: z.string(), version: z.number() }).nullable().default(null),
  }),
  instance: z.object({ commitment: z.string() }).nullable().default(null),
  result: z.object({ grader_version: z.string(), correctness: z.string(), passed: z.boolean() }),
  commitments: z.object({ response: z.string().nullable() }),
});
type Subject = z.output<typeof Subject>;

const NOTHING_HOLDS = {
  valid: false,
  instance_matches: false,
  response_matches: false,
  correctness: null,
  passed: null,
  agrees: false,
};

/**
 * Grades a run again from what is public once its epoch is: draws the instance from the secret, opens the commitments of
 * the signed statement, and reads and grades the answer as the service did. Pure: no network, no clock. The caller sees to
 * it that the secret is the one that the log has the commitment to.
 *
 * A failed run has nothing to grade: it is right at 0. A statement whose signature does not hold makes everything false or
 * null. Refused are statements about anything but a run, of a secret task or one with a fixed text, and those of
 * grading rules or of a version of the template that this code has not. Never throws for a request that fits its schema.
 *
 * @param keys the published public keys, each under its full key id (`/.well-known/jwks.json`)
 * @example
 * await regrade({ jws, epoch_secret, response_base64, response_salt }, keys)
 * // { status: "regraded", result: { valid: true, instance_matches: true, response_matches: true, correctness: 1, … } }
 */
export async function regrade(request: z.output<typeof RegradeRequest>, keys: JWK[]): Promise<Regrading> {
  const verification = await verifyStatement(request.jws, keys);
  if (!verification.valid) return { status: "regraded", result: NOTHING_HOLDS };
  const { type, credentialSubject } = verification.statement;
  const subject = type.includes("ScreeningRunCredential") ? Subject.safeParse(credentialSubject).data : undefined;
  if (subject === undefined) return { status: "refused", reason: "no_run" };
  const { run, task, instance: committed, result, commitments } = subject;
  if (task.is_secret) return { status: "refused", reason: "secret_task" };
  if (task.template === null || committed === null) return { status: "refused", reason: "fixed_task" };
  const version = GRADER_VERSIONS.find((kept) => kept === result.grader_version);
  if (version === undefined) return { status: "refused", reason: "other_rules" };
  const template = templatesById.get(task.template.id);
  if (template?.version !== task.template.version) return { status: "refused", reason: "other_template" };

  const secret = Buffer.from(request.epoch_secret, "hex");
  const instance = mintInstance(template, secret, run.id);
  const instance_matches = instanceCommitment(instance, instanceSalt(secret, run.id)) === committed.commitment;
  const response = request.response_base64 === null ? null : Buffer.from(request.response_base64, "base64");
  const response_matches = await opens(commitments.response, response, request.response_salt);
  const holds = { valid: true, instance_matches, response_matches };
  if (!instance_matches || !response_matches)
    return { status: "regraded", result: { ...holds, correctness: null, passed: null, agrees: false } };
  const { correctness, passed } = verdictOn(subject, instance, response, version);
  const agrees = correctness.toFixed(4) === result.correctness && passed === result.passed;
  return { status: "regraded", result: { ...holds, correctness, passed, agrees } };
}

/** Whether salt and bytes open a commitment; where nothing was committed to, there must be neither. */
async function opens(commitment: string | null, bytes: Uint8Array | null, salt: string | null): Promise<boolean> {
  if (bytes === null || salt === null) return commitment === null && bytes === null && salt === null;
  const { digest } = await commit(bytes, Buffer.from(salt, "hex"));
  return digest === commitment;
}

function verdictOn(
  { run, task }: Subject,
  { grader, expected_output, output_schema, output_format, tools }: Instance,
  response: Uint8Array | null,
  version: GraderVersion,
): { correctness: number; passed: boolean } {
  const asked = { run: { id: run.id }, task: { output_format, tools }, rules: version };
  const answer = run.status === "failed" || response === null ? null : answerIn(response, run.agent_protocol, asked);
  if (answer === null) return { correctness: 0, passed: false };
  const key = { grader, expected_output, output_schema, pass_threshold: PASS_THRESHOLD, is_secret: task.is_secret };
  return grade(key, answer, version);
}

/** The answer in the bytes that an agent sent: as its protocol has it, at once or later, or else as a report by callback. */
function answerIn(bytes: Uint8Array, protocol: Subject["run"]["agent_protocol"], asked: Asked): Answer | null {
  // What was graded is read, however many values it has: until they were bounded, answers of more were graded.
  const allowed = { values: Number.POSITIVE_INFINITY };
  const json = parseJsonBounded(new TextDecoder().decode(bytes), { exact: true, allowed });
  if (!json.ok) return null;
  const { read, readLater = read } = protocolOf(protocol);
  const answer = answerOf(read(json.value, asked)) ?? answerOf(readLater(json.value, asked)) ?? reportIn(json.value);
  // An answer is kept as text before it is graded, which not every number survives.
  return answer === null ? null : Answer.parse(parseExact(stringifyExact(answer)));
}

function answerOf(reading: Reading): Answer | null {
  return reading.kind === "answer" ? reading.answer : null;
}

function reportIn(body: unknown): Answer | null {
  const reported = Reported.safeParse(body).data;
  if (reported === undefined) return null;
  const { output, tool_calls } = reported;
  return { ...(output === undefined ? {} : { output }), ...(tool_calls === undefined ? {} : { tool_calls }) };
}
