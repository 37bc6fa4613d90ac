import type { Reporter, TestModule } from "vitest/node";

/** Ends a test run with one plain line: how many tests passed and failed. */
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
    // The default reporter's own summary is written at the same event; this line is to be the last.
    process.once("exit", () => console.log(`${passed} passed, ${failed} failed`));
  }
}
