import { expect, it } from "vitest";
import { buildStatement } from "../../../shared/evidence/statement.ts";
import { subjectOf } from "../../../shared/verify/subject.ts";
import { passedRun } from "../evidence/fixtures.ts";

const { agent, run } = passedRun;
const ABOUT = `About ${agent.name}, urn:uuid:${agent.id}.`;
const PRIVATE = "The run is private: it counts for nothing, and there may be others that were not shown.";

it.each([
  ["a run that passed", {}, [ABOUT, `Run ${run.id}: passed.`]],
  ["a run that did not", { passed: false }, [ABOUT, `Run ${run.id}: not passed.`]],
  ["a private run", { is_private: true }, [ABOUT, `Run ${run.id}: passed.`, PRIVATE]],
])("says whom it is about, and of %s what it was", (_, changes, sentences) => {
  const { type, ...rest } = buildStatement({ ...passedRun, run: { ...run, ...changes } });
  const credentialSubject = { ...rest.credentialSubject };
  const statement = { ...rest, type, credentialSubject, validUntil: null, credentialStatus: null };
  expect(subjectOf(statement)).toEqual(sentences);
});

it("says of a certification whom it is about, and nothing of what names nobody", () => {
  const base = {
    id: "urn:uuid:x",
    type: [],
    issuer: "did:web:x",
    validFrom: "",
    validUntil: null,
    credentialStatus: null,
  };
  expect(subjectOf({ ...base, credentialSubject: { id: "urn:uuid:a", name: "Ada" } })).toEqual([
    "About Ada, urn:uuid:a.",
  ]);
  expect(subjectOf({ ...base, credentialSubject: { type: "BitstringStatusList" } })).toEqual([]);
});
