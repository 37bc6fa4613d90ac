import { describe, expect, it } from "vitest";
import { nearest } from "../../../shared/platform/text.ts";

describe("the nearest name", () => {
  const KNOWN = ["page", "page_size", "domain", "verified_only", "team_id"];

  it.each([
    ["pagesize", "page_size"],
    ["Page_Size", "page_size"],
    ["pag", "page"],
    ["verifiedonly", "verified_only"],
    ["domian", "domain"],
    ["teamId", "team_id"],
    ["page", "page"],
    ["verified", "verified_only"],
  ])("to %s is %s", (name, expected) => {
    expect(nearest(name, KNOWN)).toBe(expected);
  });

  it("is none where none is known, and is found for any text", () => {
    expect(nearest("page", [])).toBeNull();
    for (const name of ["", "\0", "💥".repeat(10), "x".repeat(1_000_000)])
      expect(KNOWN).toContain(nearest(name, KNOWN));
  });
});
