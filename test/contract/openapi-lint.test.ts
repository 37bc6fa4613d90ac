import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { interfaceDocument } from "../../functions/document/document.ts";
import { withSharedAnswers } from "../../functions/document/shared-answers.ts";
import { BASE_URL } from "./sealed.ts";

const REDOCLY = join(dirname(createRequire(import.meta.url).resolve("@redocly/cli/package.json")), "bin/cli.js");
/** The linter speaks to nobody: neither what it did nor whether there is a newer one. */
const SILENT = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

const CONFIG = {
  telemetry: "off",
  extends: ["recommended"],
  // Beyond what Redocly recommends.
  rules: {
    "no-schema-type-mismatch": "error",
    "no-invalid-media-type-examples": "error",
    "no-invalid-parameter-examples": "error",
    "no-invalid-schema-examples": "error",
    "operation-description": "error",
    "operation-singular-tag": "error",
    "tag-description": "error",
  },
};

/** What the rules find and is meant so. */
const MEANT = [
  // The browser is sent on.
  "operation-2xx-response #/paths/~1api~1v1~1auth~1codehost/get/responses",
  "operation-2xx-response #/paths/~1api~1v1~1auth~1codehost~1callback/get/responses",
  // Neither input, nor credentials, nor a limit: nothing of the caller's can be wrong.
  "operation-4xx-response #/paths/~1healthz/get/responses",
];

interface Report {
  problems: { ruleId: string; location: { pointer: string }[] }[];
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "openapi-lint-"));
  writeFileSync(join(folder, "redocly.yaml"), JSON.stringify(CONFIG));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every finding about a document: the rule and where. */
async function findingsIn(document: object): Promise<string[]> {
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
  const options = ["lint", "openapi.json", "--config", "redocly.yaml", "--format", "json"];
  const { promise, resolve } = Promise.withResolvers<string>();
  // Findings end it with a failure: what counts is the report.
  execFile(process.execPath, [REDOCLY, ...options], { cwd: folder, env: { ...process.env, ...SILENT } }, (_, stdout) =>
    resolve(stdout),
  );
  const { problems } = JSON.parse(await promise) as Report;
  return problems.map(({ ruleId, location: [at] }) => `${ruleId} ${at?.pointer}`);
}

test("the document passes Redocly's recommended rules and more, without a warning that is not meant", async () => {
  expect(await findingsIn(withSharedAnswers(interfaceDocument(ROUTES, BASE_URL)))).toEqual(MEANT);
}, 30_000);

test("the rules are at work: a document with faults has findings", async () => {
  const document = interfaceDocument(ROUTES.slice(0, 2), BASE_URL);
  const { paths } = document as { paths: Record<string, Record<string, object>> };
  for (const path of Object.values(paths)) {
    for (const operation of Object.values(path)) {
      Object.assign(operation, { operationId: "same", security: undefined, tags: ["Accounts", "Board"] });
    }
  }
  const FAULTS = ["no-unused-components", "operation-operationId-unique", "operation-singular-tag", "security-defined"];
  const rules = new Set((await findingsIn(document)).map((finding) => finding.split(" ", 1)[0]));
  expect(rules).toEqual(new Set(FAULTS));
}, 30_000);
