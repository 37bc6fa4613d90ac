import { expect, it } from "vitest";
import { createSteps } from "../../../shared/platform/steps.ts";

it("are done one at a time in the order in which they were wanted, and let in what arrives between them", async () => {
  const steps = createSteps();
  const happened: (number | string)[] = [];
  const arriving = (more: number): void => {
    setImmediate(() => {
      happened.push("let in");
      if (more > 0) arriving(more - 1);
    });
  };
  const all = [1, 2, 3].map(async (step) => {
    await steps.next();
    happened.push(step);
  });
  arriving(2);
  await Promise.all(all);
  expect(happened).toEqual(["let in", 1, "let in", 2, "let in", 3]);
});

it("does not keep the others where one fails", async () => {
  const steps = createSteps();
  const failing = (async () => {
    await steps.next();
    throw new Error("failed");
  })();
  await expect(failing).rejects.toThrow("failed");
  await steps.next();
});
