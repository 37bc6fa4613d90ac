import * as z from "zod";
import { isProblemCode, PROBLEMS } from "../platform/problem.ts";

/** The RFC 9457 body of every error. */
export const ProblemDetails = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(PROBLEMS).filter(isProblemCode)),
    request_id: z.string().optional(),
    errors: z
      .array(
        z.object({
          in: z.enum(["body", "query", "path", "header"]),
          pointer: z.string().meta({ description: "RFC 6901 JSON pointer" }),
          code: z.string(),
          message: z.string(),
        }),
      )
      .optional()
      .meta({
        description:
          "What is wrong where in the request, the first 20 findings: on 422, with `invalid_graphql_request`, and where a 401 " +
          "or 409 is about one member of the body, as `username_taken` is",
      }),
    limit: z.number().optional().meta({ description: "Only with quota_exceeded" }),
    used: z.number().optional().meta({ description: "Only with quota_exceeded" }),
    resets_at: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "Only with quota_exceeded: when the limit starts anew; null where it does not by itself" }),
    larger_plan: z
      .boolean()
      .optional()
      .meta({ description: "Only with quota_exceeded: whether a larger plan of whoever pays has more" }),
  })
  .meta({ id: "Problem" });
