import type { Json } from "../public/types.ts";
import { drawUntil, type Random } from "../../templates/random.ts";
import { clock, prose } from "../../templates/text.ts";
import { TEXT, tool, COUNT } from "./tools.ts";
import { defineTemplate } from "./types.ts";

const TOOLS = [
  tool("assign_berth", "Gives a ship a berth for the rest of the day.", { ship_id: TEXT, berth_id: TEXT }),
  tool("send_to_anchorage", "Lets a ship wait at anchor until tomorrow.", { ship_id: TEXT }),
  tool("order_tugs", "Orders tugs for a ship.", { ship_id: TEXT, tugs: COUNT }),
  tool("close_port", "Closes the port to all ships.", {}),
];

interface Ship {
  ship_id: string;
  arrives: string;
  length_m: number;
  draught_dm: number;
  inflammable: boolean;
}
interface Berth {
  berth_id: string;
  length_m: number;
  depth_dm: number;
  inflammable_allowed: boolean;
}
interface Rule {
  room: number;
  water: number;
  tugFrom: number;
}

type Call = { name: string; arguments: { [name: string]: Json[] } };

/** The calls for the ships in the order given, and how many of them get no berth. */
function orders(ships: readonly Ship[], berths: readonly Berth[], rule: Rule): { calls: Call[]; sentAway: number } {
  const taken = new Set<string>();
  let sentAway = 0;
  const calls = ships.flatMap(({ ship_id, length_m, draught_dm, inflammable }): Call[] => {
    const [berth] = berths
      .filter(
        (one) =>
          !taken.has(one.berth_id) &&
          one.length_m >= length_m + rule.room &&
          one.depth_dm >= draught_dm + rule.water &&
          (!inflammable || one.inflammable_allowed),
      )
      .toSorted((a, b) => a.length_m - b.length_m);
    if (berth === undefined) {
      sentAway += 1;
      return [{ name: "send_to_anchorage", arguments: { ship_id: [ship_id] } }];
    }
    taken.add(berth.berth_id);
    const assigned = { name: "assign_berth", arguments: { ship_id: [ship_id], berth_id: [berth.berth_id] } };
    if (length_m < rule.tugFrom) return [assigned];
    const tugs = Math.ceil(length_m / 90);
    return [{ name: "order_tugs", arguments: { ship_id: [ship_id], tugs: [tugs] } }, assigned];
  });
  return { calls, sentAway };
}

const metres = (decimetres: number) => (decimetres / 10).toFixed(1);

function berthOf(random: Random, berth_id: string, i: number): Berth {
  const length_m = 100 + 25 * i + random.int(0, 24);
  return { berth_id, length_m, depth_dm: random.int(60, 120), inflammable_allowed: random.pick([true, false]) };
}

/** Traps: who comes first is served first, whatever the list's order; who is too deep or too long waits; tugs come first. */
export const quayOrders = defineTemplate(
  {
    id: "quay-orders",
    title: "Ships of the day",
    domain: "tool_use",
    output_format: "tool_calls",
    reference_cost_usd: 0.009,
    reference_latency_ms: 10_000,
  },
  (random) => {
    const [shipIds, berthIds] = [random.codes("V", 5), random.codes("Q", 5)];
    return drawUntil(() => {
      const rule = { room: random.int(8, 20), water: random.int(5, 15), tugFrom: random.int(110, 150) };
      const berths = berthIds.map((id, i) => berthOf(random, id, i));
      const hours = random
        .sample(
          Array.from({ length: 60 }, (_, i) => 300 + 15 * i),
          5,
        )
        .toSorted((a, b) => a - b);
      const ships = shipIds.map((ship_id, i) => ({
        ship_id,
        arrives: clock(hours[i] ?? 0),
        length_m: random.int(80, 195),
        draught_dm: random.int(45, 105),
        inflammable: random.pick([true, false, false]),
      }));
      const listed = random.shuffle(ships);
      const right = orders(ships, berths, rule);
      const [asListed, loose] = [orders(listed, berths, rule), orders(ships, berths, { ...rule, room: 0, water: 0 })];
      const same = (other: { calls: Call[] }) =>
        JSON.stringify(other.calls.map((call) => JSON.stringify(call)).toSorted()) ===
        JSON.stringify(right.calls.map((call) => JSON.stringify(call)).toSorted());
      if (right.calls.length !== 7 || right.sentAway === 0 || right.sentAway > 2 || same(asListed) || same(loose))
        return undefined;
      return {
        prompt: prose(
          "Give the ships of the input their places by calling the tools, ship by ship in the order in which they arrive; all come",
          "today, and all berths are free in the morning. A ship gets the shortest free berth that fits. A berth fits if it is at",
          `least ${rule.room} m longer than the ship and at least ${metres(rule.water)} m deeper than its draught; a ship with an inflammable cargo also needs`,
          "a berth that is allowed for it. A berth that was given away is taken for the rest of the day. A ship for which no free",
          `berth fits is sent to the anchorage. A ship of ${rule.tugFrom} m or more that gets a berth needs tugs, ordered right before`,
          "the berth is assigned: one for every 90 m of its length or part of it. Make no other call.",
        ),
        input: {
          ships: listed.map(({ draught_dm, ...ship }) => ({ ...ship, draught_m: metres(draught_dm) })),
          berths: random.shuffle(berths).map(({ depth_dm, ...berth }) => ({ ...berth, depth_m: metres(depth_dm) })),
        },
        tools: TOOLS,
        grader: { type: "tool_calls", order: "strict" },
        expected_output: right.calls,
        expected_tool_calls: right.calls.length,
      };
    });
  },
);
