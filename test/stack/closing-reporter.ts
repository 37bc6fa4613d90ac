import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with one plain line: how many tests passed and failed. Where `FAILED_FILES` names a file, the paths of
 * the test files with a failure are written there, one a line; nothing is, where something failed outside of any test.
 */
export default class ClosingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        if (state === "failed") failed += 1;
      }
    }
    const list = process.env["FAILED_FILES"];
    if (list !== undefined && errors.length === 0)
      writeFileSync(
        list,
        modules
          .filter((module) => !module.ok())
          .map(({ moduleId }) => `${moduleId}\n`)
          .join(""),
      );
    // The default reporter's own summary is written at the same event; this line is to be the last.
    process.once("exit", () => console.log(`${passed} passed, ${failed} failed`));
  }
}
