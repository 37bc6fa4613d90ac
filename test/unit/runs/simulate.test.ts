import { expect, it } from "vitest";
import { simulate } from "../../../shared/runs/simulate.ts";
import { jobOf } from "./protocols-support.ts";

it("a simulated agent that is wrong gives no output, and so none that a schema could allow", () => {
  const job = jobOf({ output_format: "json", output_schema: { type: "null" }, expected_output: null });
  const answers = Array.from({ length: 50 }, (_, index) => {
    const outcome = simulate({ ...job, run: { ...job.run, id: `run ${index}` } });
    return outcome.kind === "answer" ? JSON.stringify({ output: outcome.answer.output }) : outcome.kind;
  });
  expect(new Set(answers)).toEqual(new Set(["{}", '{"output":null}']));
});
