import { openApi, type OpenApi } from "../../shared/http/openapi.ts";
import { problemsOf } from "../../shared/http/route-problems.ts";
import type { Route } from "../../shared/http/route.ts";
import { describeParameter, describeProperties } from "./describe.ts";
import { exemplifyAll } from "./examples.ts";
import { problemExamples } from "./problems.ts";
import { webhooksOf } from "./webhooks.ts";

/**
 * The OpenAPI document as it is published: what follows from the routes, what the service sends to others, and words and
 * examples for all of it. It is made when the service is built.
 */
export function interfaceDocument(routes: readonly Route[], baseUrl: string): OpenApi {
  const document = openApi(routes, baseUrl);
  const { components, paths } = document;
  const webhooks = webhooksOf(components.schemas);
  const schemas = Object.fromEntries(Object.entries(components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  for (const [name, schema] of Object.entries(schemas)) describeProperties(schema, [name]);
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) {
      const { parameters = [], ...rest } = operation;
      for (const parameter of parameters) describeParameter(path, parameter);
      describeProperties(rest, [operation.operationId]);
    }
  }
  const whole: OpenApi = {
    ...document,
    paths,
    webhooks,
    components: { ...components, schemas, examples: problemExamples(baseUrl, new Set(routes.flatMap(problemsOf))) },
  };
  exemplifyAll(whole);
  return whole;
}
