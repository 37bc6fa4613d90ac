import { describe, expect, test } from "vitest";
import { numeracyAndLogic } from "../../../shared/suites/public/numeracy-and-logic/index.ts";
import { permutations, subsets } from "./core-support.ts";
import { readerOf } from "./suite-support.ts";

const { keyOf, inputOf, task } = readerOf(numeracyAndLogic);

describe("a search through all cases finds the key and nothing else", () => {
  test("eight-sacks-three-weighings: by the weighings as the prompt gives them", () => {
    const numbers = (list = "") => list.split(", ").map(Number);
    const balance: Record<string, number> = {
      "the left side sinks": 1,
      "the right side sinks": -1,
      "the sides balance": 0,
    };
    const { prompt } = task("eight-sacks-three-weighings");
    const weighings = [...prompt.matchAll(/^([\d, ]+) against ([\d, ]+): (.+)$/gm)];
    expect(weighings).toHaveLength(3);
    const sacks = [1, 2, 3, 4, 5, 6, 7, 8];
    const pairs = sacks.flatMap((heavy) => sacks.filter((light) => light !== heavy).map((light) => ({ heavy, light })));
    const fitting = pairs.filter(({ heavy, light }) =>
      weighings.every(([, left, right, result = ""]) => {
        const excess = (side: number[]) => Number(side.includes(heavy)) - Number(side.includes(light));
        return Math.sign(excess(numbers(left)) - excess(numbers(right))) === balance[result];
      }),
    );
    expect(fitting).toEqual([keyOf("eight-sacks-three-weighings")]);
  });

  test("six-seats-round-a-table", () => {
    const orders = permutations(["Ines", "Jorg", "Kaja", "Lior", "Mona", "Nils"]).filter((order) => {
      const seat = (name: string) => order.indexOf(name) + 1;
      const clockwise = (from: string, to: string) => (seat(to) - seat(from) + 6) % 6;
      const adjacent = (a: string, b: string) => [1, 5].includes(clockwise(a, b));
      const opposite = (a: string, b: string) => clockwise(a, b) === 3;
      return (
        seat("Mona") === 1 &&
        !adjacent("Ines", "Jorg") &&
        !adjacent("Ines", "Mona") &&
        clockwise("Kaja", "Lior") === 1 &&
        !opposite("Nils", "Mona") &&
        !adjacent("Nils", "Lior") &&
        !opposite("Jorg", "Kaja") &&
        seat("Kaja") % 2 === 1
      );
    });
    expect(orders.map((order) => order[3])).toEqual([keyOf("six-seats-round-a-table")]);
  });

  test("stack-of-spice-crates", () => {
    const orders = permutations(["Anise", "Bay", "Clove", "Dill", "Fennel", "Ginger", "Mace"]).filter((order) => {
      const at = (name: string) => order.indexOf(name) + 1;
      return (
        Math.abs(at("Anise") - at("Dill")) === 3 &&
        at("Ginger") === at("Bay") + 2 &&
        ![1, 7].includes(at("Mace")) &&
        at("Dill") % 2 === 0 &&
        at("Bay") !== 1 &&
        at("Anise") > at("Fennel") &&
        at("Clove") === at("Dill") + 1
      );
    });
    expect(orders.map((order) => order.join("-"))).toEqual([keyOf("stack-of-spice-crates")]);
  });

  test("four-digit-vault-code: by the tries and the replies as the prompt gives them", () => {
    const count: Record<string, number> = { none: 0, one: 1, two: 2, three: 3 };
    const tries = [...task("four-digit-vault-code").prompt.matchAll(/^(\d{4}): (\w+) in place, (\w+) elsewhere$/gm)];
    expect(tries).toHaveLength(4);
    const codes = Array.from({ length: 10_000 }, (_, code) => String(code).padStart(4, "0")).filter(
      (code) =>
        new Set(code).size === 4 &&
        tries.every(([, guess = "", placed = "", elsewhere = ""]) => {
          const inPlace = guess.split("").filter((digit, index) => code[index] === digit).length;
          const present = guess.split("").filter((digit) => code.includes(digit)).length;
          return inPlace === count[placed] && present - inPlace === count[elsewhere];
        }),
    );
    expect(codes).toEqual([keyOf("four-digit-vault-code")]);
  });

  test("robots-that-lie-by-weekday", () => {
    const week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    const lyingDays: Record<string, string[]> = {
      Pip: ["Monday", "Wednesday", "Friday"],
      Quo: ["Tuesday", "Wednesday", "Thursday"],
      Rux: ["Monday", "Saturday", "Sunday"],
    };
    const days = week.filter((day, index) => {
      const lies = (robot: string, on: string | undefined) => lyingDays[robot]?.includes(on ?? "") ?? false;
      const said: Record<string, boolean> = {
        Pip: lies("Pip", week[(index + 1) % 7]),
        Quo: lies("Pip", day) !== lies("Rux", day),
        Rux: lies("Rux", week[(index + 6) % 7]),
      };
      return Object.keys(lyingDays).every((robot) => said[robot] !== lies(robot, day));
    });
    expect(days).toEqual([keyOf("robots-that-lie-by-weekday")]);
  });

  test("museum-rules-that-follow: the statements that hold in every possible world", () => {
    const worlds = subsets(["door", "lights", "guard", "alarm", "camera"])
      .map((facts) => (fact: string) => facts.includes(fact))
      .filter(
        (is) =>
          (!is("door") || is("lights")) &&
          (!(is("lights") && !is("guard")) || is("alarm")) &&
          is("camera") === !is("lights") &&
          !is("alarm") &&
          (!is("camera") || is("door")),
      );
    const statements: Record<string, (is: (fact: string) => boolean) => boolean> = {
      S1: (is) => is("lights"),
      S2: (is) => is("door"),
      S3: (is) => is("guard"),
      S4: (is) => !is("camera"),
      S5: (is) => is("door") || is("guard"),
      S6: (is) => !is("door"),
    };
    expect(worlds).not.toEqual([]);
    const certain = Object.keys(statements).filter((label) => worlds.every((world) => statements[label]?.(world)));
    expect(certain).toEqual(keyOf("museum-rules-that-follow"));
  });

  test("members-of-three-clubs: every number of people in all three is tried", () => {
    const solutions = Array.from({ length: 12 }, (_, all) => {
      const [choirGarden, gardenChess, choirChess] = [15 - all, 12 - all, 11 - all];
      const choirOnly = 38 - choirGarden - choirChess - all;
      const gardenOnly = 33 - choirGarden - gardenChess - all;
      const chessOnly = 29 - gardenChess - choirChess - all;
      const regions = [all, choirGarden, gardenChess, choirChess, choirOnly, gardenOnly, chessOnly];
      return { all, pairs: choirGarden + gardenChess + choirChess, gardenOnly, regions };
    }).filter(({ regions }) => regions.every((n) => n >= 0) && regions.reduce((sum, n) => sum + n) === 75 - 5);
    expect(
      solutions.map(({ all, pairs, gardenOnly }) => ({ all_three: all, exactly_two: pairs, garden_only: gardenOnly })),
    ).toEqual([keyOf("members-of-three-clubs")]);
  });

  test("committee-under-bylaws: of all committees that the by-laws allow, one is proposed", () => {
    const { members } = inputOf<{ members: { name: string; house: string; joined: number; board: boolean }[] }>(
      "committee-under-bylaws",
    );
    const houses = [...new Set(members.map(({ house }) => house))];
    const lawful = subsets(members).filter((committee) => {
      const serves = (name: string) => committee.some((member) => member.name === name);
      const perHouse = houses.map((house) => committee.filter((member) => member.house === house).length);
      return (
        committee.length === 4 &&
        perHouse.every((n) => n >= 1 && n <= 2) &&
        committee.filter(({ board }) => board).length <= 1 &&
        committee.filter(({ joined }) => joined < 2018).length >= 2 &&
        !(serves("Brecht") && serves("Fenna")) &&
        committee.every(
          ({ joined, house }) =>
            joined <= 2020 || committee.some((elder) => elder.house === house && elder.joined < 2018),
        )
      );
    });
    const { grader } = task("committee-under-bylaws");
    const proposed = grader.type === "multiple_choice" ? grader.choices : [];
    const names = lawful.map((committee) => committee.map(({ name }) => name).join(", "));
    expect(proposed.filter((choice) => names.includes(choice))).toEqual([keyOf("committee-under-bylaws")]);
  });

  test("first-cousins-of-tilde: over the chronicle's tree of children by birth and adoption", () => {
    const children: Record<string, string[]> = {
      Hedda: ["Ivo", "Runa", "Sten"],
      "mother of Petra": ["Petra", "Lotte"],
      Ivo: ["Tilde", "Una"],
      Petra: ["Tilde", "Una"],
      Lotte: ["Vito"],
      Runa: ["Wendel", "Xenia", "York"],
      Wendel: ["Birte"],
    };
    const parentsOf = (child: string) => Object.keys(children).filter((parent) => children[parent]?.includes(child));
    const parents = parentsOf("Tilde");
    const relatives = parents.flatMap(parentsOf).flatMap((grandparent) => children[grandparent] ?? []);
    const cousins = relatives.filter((name) => !parents.includes(name)).flatMap((name) => children[name] ?? []);
    expect(keyOf("first-cousins-of-tilde")).toBe(new Set(cousins).size);
  });

  test("draws-in-the-dark: one more than the largest draw that falls short", () => {
    let longest = 0;
    for (let red = 0; red <= 9; red += 1)
      for (let blue = 0; blue <= 7; blue += 1)
        for (let green = 0; green <= 3; green += 1)
          for (let white = 0; white <= 2; white += 1) {
            const [most = 0, second = 0] = [red, blue, green, white].toSorted((a, b) => b - a);
            if (most < 4 || second < 2) longest = Math.max(longest, red + blue + green + white);
          }
    expect(keyOf("draws-in-the-dark")).toBe(longest + 1);
  });
});
