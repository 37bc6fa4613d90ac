import type { OpenApi } from "../../shared/http/openapi.ts";
import type { Answer } from "../../shared/http/openapi-responses.ts";

/** Refers to a component of the document. */
interface Reference {
  $ref: string;
}

/** A document whose operations may refer to their answers. */
export interface WithSharedAnswers extends Omit<OpenApi, "paths"> {
  paths: Record<string, Record<string, { responses: Record<string, Answer | Reference> }>>;
}

/**
 * The document with each answer without a result, a refusal or a 304, that several operations give said once, among
 * `components.responses`: which makes it half as long. A component is named by the codes of its problems, such as
 * `forbidden-insufficient_scope`, a 304 `not_modified`; of several with the same name but other headers or media types, all
 * but the first have a number behind that.
 */
export function withSharedAnswers(document: OpenApi): WithSharedAnswers {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const common = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, answer]) => (status === "304" || status >= "400" ? [answer] : [])),
  );
  const shared = new Map<string, string>();
  const components: Record<string, Answer> = {};
  for (const [text, [answer, another]] of Map.groupBy(common, (one) => JSON.stringify(one))) {
    if (answer === undefined || another === undefined) continue;
    const codes = nameOf(answer);
    let name = codes;
    for (let number = 2; name in components; number += 1) name = `${codes}-${number}`;
    components[name] = answer;
    shared.set(text, name);
  }
  const refer = (answer: Answer): Answer | Reference => {
    const name = shared.get(JSON.stringify(answer));
    return name === undefined ? answer : { $ref: `#/components/responses/${name}` };
  };
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => ({ ...operation, responses: mapValues(operation.responses, refer) })),
  );
  return { ...document, paths, components: { ...document.components, responses: components } };
}

function nameOf({ content }: Answer): string {
  if (content === undefined) return "not_modified";
  const codes = Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples));
  return codes.join("-") || "other";
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}
