import type { Reply } from "../../shared/http/reply.ts";
import type { PropsWithChildren } from "hono/jsx";
import { FIRST_STEP_COOKIE, REFRESH_COOKIE } from "../../shared/http/cookie-names.ts";
import { TAGS } from "../../shared/http/tags.ts";
import { Layout } from "./layout.tsx";
import { Field } from "./parts/form.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { lasting } from "./parts/lasting.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import {
  found,
  type Operation,
  type Reference,
  readReference,
  type Schema,
  type Schemas,
  slugOf,
} from "./reference/document.ts";
import { described, linesOf } from "./reference/schema.ts";

type Details = ReturnType<Reference["detailsOf"]>;

/** Text with code between backticks, and paragraphs between empty lines. */
function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("\n\n").map((paragraph) => (
        <p>
          <Code text={paragraph} />
        </p>
      ))}
    </>
  );
}

function Code({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}

const hrefOf = ({ tags: [tag = ""], operationId }: Operation): string => `/docs/${slugOf(tag)}#${operationId}`;

function Operations({ operations }: { operations: readonly Operation[] }) {
  return (
    <ul>
      {operations.map((operation) => (
        <li>
          <a href={hrefOf(operation)}>
            <code>
              {operation.method} {operation.path}
            </code>
          </a>{" "}
          {operation.summary}
        </li>
      ))}
    </ul>
  );
}

/** A table of the operation `of`. */
function Fields({ title, of, children }: PropsWithChildren<{ title: string; of: string }>) {
  return (
    <Scroll label={`${title}: ${of}`}>
      <table>
        <caption>{title}</caption>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

function Row({ name, type, required, about }: { name: string; type: string; required: boolean; about: string }) {
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {required && <span class="tag">required</span>}
      </th>
      <td class="wide">
        <span class="mute">{type}</span>
        {about !== "" && (
          <>
            {": "}
            <Code text={about} />
          </>
        )}
      </td>
    </tr>
  );
}

function SchemaTable({ title, of, schema, schemas }: { title: string; of: string; schema: Schema; schemas: Schemas }) {
  const lines = linesOf(schema, schemas);
  if (lines.length === 0) {
    return (
      <p>
        {title}: <span class="mute">{described(schema, schemas).type}</span>
      </p>
    );
  }
  return (
    <Fields title={title} of={of}>
      {lines.map((line) => (
        <Row {...line} />
      ))}
    </Fields>
  );
}

const bodyOf = ({ requestBody }: Details): Schema | undefined => requestBody?.content["application/json"]?.schema;

/** How a request shows who calls; of several ways the first. */
const CREDENTIALS: readonly (readonly [scheme: string, option: string])[] = [
  ["runToken", '-H "Authorization: Bearer $RUN_TOKEN"'],
  ["receiver", '-H "Authorization: Bearer $OTLP_TOKEN"'],
  ["apiKey", '-H "X-API-Key: $AGENT_SCREENING_KEY"'],
  ["bearer", '-H "Authorization: Bearer $ACCESS_TOKEN"'],
  ["refresh", `-b "${REFRESH_COOKIE}=$REFRESH_TOKEN"`],
  ["firstStep", `-b "${FIRST_STEP_COOKIE}=$FIRST_STEP"`],
  ["signature", '-H "Stripe-Signature: $SIGNATURE"'],
];

/** What to paste into a shell. */
function curlOf(operation: Details, base: string): string {
  const { method, path, parameters, security } = operation;
  const given = parameters.filter(({ example }) => example !== undefined);
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    String(given.find((one) => one.in === "path" && one.name === name)?.example),
  );
  const query = new URLSearchParams(
    Object.fromEntries(given.filter((one) => one.in === "query").map(({ name, example }) => [name, String(example)])),
  ).toString();
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}'${base}${address}${query && `?${query}`}'`];
  const open = security.some((one) => Object.keys(one).length === 0);
  const [, shown] = CREDENTIALS.find(([scheme]) => security.some((one) => scheme in one)) ?? [];
  if (!open && shown !== undefined) lines.push(shown);
  if (bodyOf(operation) !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    const sample = JSON.stringify(operation.requestBody?.content["application/json"]?.example, null, 2);
    lines.push(`-d '${sample.replaceAll("'", String.raw`'\''`)}'`);
  }
  return lines.join(" \\\n  ");
}

function OperationSection({ operation, schemas, base }: { operation: Details; schemas: Schemas; base: string }) {
  const { operationId, method, path, summary, description, parameters, responses } = operation;
  const body = bodyOf(operation);
  const [success] = Object.entries(responses).filter(([status]) => status < "300");
  const { schema: answer, example } = success?.[1].content?.["application/json"] ?? {};
  return (
    <section>
      <h2 id={operationId}>{summary}</h2>
      <p>
        <code>
          <strong>{method}</strong> {path}
        </code>
      </p>
      <Prose text={description} />
      {parameters.length > 0 && (
        <Fields title="Parameters" of={summary}>
          {parameters.map(({ name, required, schema, ...parameter }) => {
            const { type, about } = described({ ...schema, ...parameter }, schemas);
            return <Row name={name} type={`${parameter.in}, ${type}`} required={required} about={about} />;
          })}
        </Fields>
      )}
      {body !== undefined && <SchemaTable title="Body" of={summary} schema={body} schemas={schemas} />}
      <pre>
        <code>{curlOf(operation, base)}</code>
      </pre>
      <details>
        <summary>Answers</summary>
        <Fields title="By status" of={summary}>
          {Object.entries(responses).map(([status, response]) => (
            <tr>
              <th scope="row">{status}</th>
              <td class="wide">
                {response.description.split("\n").map((line) => (
                  <div>
                    <Code text={line} />
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </Fields>
        {answer !== undefined && (
          <>
            <SchemaTable title={`Body of ${success?.[0] ?? ""}`} of={summary} schema={answer} schemas={schemas} />
            <pre>
              <code>{JSON.stringify(example, null, 2)}</code>
            </pre>
          </>
        )}
      </details>
    </section>
  );
}

async function showAll(visit: Visit): Promise<Reply> {
  const { info, tags, operations } = await readReference(visit.ctx);
  const wanted = visit.query.get("q")?.trim() ?? "";
  const hits = found(operations, wanted);
  return lasting(
    <Layout title="Interface">
      <h1>Interface</h1>
      <Prose text={info.description} />
      <p>
        Version {info.version}: <a href="/openapi.json">the OpenAPI document</a>, which this is made of. What each error
        means stands among <a href="/docs/problems">the problems</a>. What came since the last release stands in{" "}
        <a href="/docs/changelog">the list of what is new</a>. How to do what people come here for stands in{" "}
        <a href="/docs/guides">the guides</a>.
      </p>
      <form method="get" action="/docs" role="search">
        <Field label="Find" name="q" value={wanted} optional hint="Words of a path, a summary or a description" />
        <p>
          <button type="submit">Find</button>
        </p>
      </form>
      {wanted === "" ? (
        tags.map(({ name, description }) => (
          <>
            <h2>
              <a href={`/docs/${slugOf(name)}`}>{name}</a>
            </h2>
            <p>{description}.</p>
            <Operations operations={operations.filter((one) => one.tags[0] === name)} />
          </>
        ))
      ) : (
        <>
          <h2 role="status">
            {hits.length === 1 ? "One operation" : `${hits.length} operations`} for “<bdi>{wanted}</bdi>”
          </h2>
          {hits.length === 0 ? (
            <Empty>
              Nothing has all of these words. <a href="/docs">Show everything</a>, or try fewer.
            </Empty>
          ) : (
            <Operations operations={hits} />
          )}
        </>
      )}
    </Layout>,
  );
}

async function showTag(visit: Visit, tag: string): Promise<Reply> {
  const { operations, schemas, detailsOf } = await readReference(visit.ctx);
  const own = operations.filter(({ tags }) => tags[0] === tag);
  return lasting(
    <Layout title={`${tag}: interface`}>
      <p>
        <a href="/docs">Interface</a>
      </p>
      <h1>{tag}</h1>
      <p>{TAGS[tag]}.</p>
      <Operations operations={own} />
      {own.map((operation) => (
        <OperationSection operation={detailsOf(operation)} schemas={schemas} base={visit.ctx.env.BASE_URL} />
      ))}
    </Layout>,
  );
}

export const referencePages: readonly View[] = [
  view({ path: "/docs", title: "The interface, to read and to search", show: showAll }),
  ...Object.keys(TAGS).map((tag) =>
    view({ path: `/docs/${slugOf(tag)}`, title: `The interface: ${tag}`, show: (visit) => showTag(visit, tag) }),
  ),
];
