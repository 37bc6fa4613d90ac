import { execute, type ExecutionResult, getOperationAST, getVariableValues, GraphQLError } from "graphql";
import type * as z from "zod";
import { Problem } from "../../shared/platform/problem.ts";
import { batching } from "./batch.ts";
import { assertAffordable, readDocument } from "./bounds.ts";
import type { GraphqlAnswer, GraphqlRequest } from "./request.ts";
import { graphqlSchema } from "./schema.ts";
import type { Caller } from "./builder.ts";

/**
 * Runs one GraphQL request with at most one round trip to the database. `errors` holds the refusals, each with the code of
 * its problem; there is no `data` where the whole document is refused. Throws what is the service's own fault.
 */
export async function answer(
  { ctx, principal }: Caller,
  { query, operationName, variables }: z.output<typeof GraphqlRequest>,
): Promise<Omit<z.input<typeof GraphqlAnswer>, "data"> & Pick<ExecutionResult, "data">> {
  const { data, errors } = await run({ ctx: batching(ctx), principal }, query, operationName ?? null, variables ?? {});
  return {
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors: errors.map(shown) }),
  };
}

async function run(
  caller: Caller,
  query: string,
  operationName: string | null,
  variables: Record<string, unknown>,
): Promise<ExecutionResult> {
  const schema = graphqlSchema();
  try {
    const document = readDocument(schema, query);
    if (!("kind" in document)) return { errors: document };
    const operation = getOperationAST(document, operationName);
    if (operation == null) {
      throw new GraphQLError(
        operationName === null ? "Name one of the operations as operationName." : "There is no operation of this name.",
      );
    }
    const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: 5,
    });
    if (coerced === undefined) return { errors: errors ?? [] };
    assertAffordable(schema, document, operation, coerced);
    return await execute({
      schema,
      document,
      contextValue: caller,
      variableValues: variables,
      operationName,
    });
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

/** An error as callers see it. Rethrows an error that neither the document nor the caller caused. */
function shown(error: GraphQLError) {
  const { originalError: cause } = error;
  if (cause !== undefined && !(cause instanceof GraphQLError) && !(cause instanceof Problem && cause.status < 500)) {
    throw cause;
  }
  const { message, locations, path } = error.toJSON();
  return {
    message,
    ...(locations === undefined ? {} : { locations: [...locations] }),
    ...(path === undefined ? {} : { path: [...path] }),
    extensions: { code: cause instanceof Problem ? cause.code : "validation_failed" },
  };
}
