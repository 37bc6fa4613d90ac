import * as z from "zod";

/** What one document may ask for. Introspection has a limit of its own on depth, which graphql-js sets. */
export const BOUNDS = { tokens: 500, depth: 6, aliases: 15, directives: 20, cost: 5000 } as const;

/** The body of a request, as GraphQL over HTTP defines it. */
export const GraphqlRequest = z
  .strictObject({
    query: z.string().meta({ description: "The document" }),
    operationName: z.string().nullish(),
    variables: z.record(z.string(), z.json()).nullish(),
    extensions: z
      .record(z.string(), z.json())
      .nullish()
      .meta({ description: "Accepted because the protocol requires it; no extension is supported" }),
  })
  .meta({
    id: "GraphqlRequest",
    examples: [{ query: "{ leaderboard(pageSize: 3) { items { rank name compositeScore } } }" }],
  });

export const GraphqlAnswer = z
  .object({
    data: z
      .record(z.string(), z.json())
      .nullable()
      .optional()
      .meta({ description: "Missing if the document was refused" }),
    errors: z
      .array(
        z.object({
          message: z.string(),
          locations: z.array(z.object({ line: z.int(), column: z.int() })).optional(),
          path: z.array(z.union([z.string(), z.int()])).optional(),
          extensions: z.object({ code: z.string().meta({ description: "A code of the table of problems" }) }),
        }),
      )
      .optional(),
  })
  .meta({ id: "GraphqlAnswer" });
