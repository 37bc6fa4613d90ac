import { describe, expect, it } from "vitest";
import { DOMAINS } from "../../../shared/catalogue/domains.ts";
import { publicSuites } from "../../../shared/suites/public/index.ts";
import { secretSuites } from "../../../shared/suites/secret/index.ts";

const tasks = publicSuites.flatMap((suite) => suite.tasks);

describe("the shipped catalogue", () => {
  it("has six public suites with at least 120 tasks, and two secret ones", () => {
    expect(publicSuites).toHaveLength(6);
    expect(tasks.length).toBeGreaterThanOrEqual(120);
    expect(secretSuites).toHaveLength(2);
  });

  it("names every suite and every task once", () => {
    const slugs = [...publicSuites, ...secretSuites].map(({ slug }) => slug);
    expect(new Set(slugs).size).toBe(slugs.length);
    expect(new Set(tasks.map(({ slug }) => slug)).size).toBe(tasks.length);
    expect(new Set(tasks.map(({ title }) => title)).size).toBe(tasks.length);
  });

  it("has four core tasks of each domain", () => {
    const core = publicSuites.find(({ slug }) => slug === "core");
    for (const domain of DOMAINS) expect(core?.tasks.filter((task) => task.domain === domain)).toHaveLength(4);
  });

  it("covers every domain beyond the core suite too", () => {
    const beyond = publicSuites.filter(({ slug }) => slug !== "core").flatMap((suite) => suite.tasks);
    expect(new Set(beyond.map(({ domain }) => domain))).toEqual(new Set(DOMAINS));
  });
});
