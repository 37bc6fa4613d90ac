import { expect, it } from "vitest";
import { numbers, table } from "../../../clients/cli/src/terminal.ts";

it("a table has numbers to the right, and names to the left even where each of them begins with a digit", () => {
  const rows = [
    ["3M agent", "–", "100.0%"],
    ["42", "7–12", ""],
  ];
  expect(table(["agent", numbers("places"), numbers("success")], rows)).toEqual([
    "agent     places  success",
    "3M agent       –   100.0%",
    "42          7–12",
  ]);
});
