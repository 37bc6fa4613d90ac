import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";
import { PLACES } from "../../words.ts";

const VESSELS = ["ferry", "mail boat", "pilot cutter", "supply boat", "survey launch"] as const;

/** Metres in a tenth of the unit, times ten, so that all amounts below are whole hundred-thousandths of a litre. */
const UNITS = { km: 1000, nmi: 1852 } as const;
const LITRE = 100_000;

interface Voyage {
  legs: { from: string; to: string; tenths: number; unit: keyof typeof UNITS }[];
  tenthsPerKm: number;
  departure: number;
  arrival: number;
  tank: number;
  reserve: number;
}

/** What one way burns; `units` says how long a kilometre and a nautical mile are taken to be. */
function oneWay(voyage: Voyage, units: Record<keyof typeof UNITS, number> = UNITS): number {
  const burnt = voyage.legs.reduce((sum, { tenths, unit }) => sum + tenths * units[unit] * voyage.tenthsPerKm, 0);
  return burnt + voyage.legs.length * (voyage.departure + voyage.arrival) * LITRE;
}

function drawVoyage(random: Random): Voyage {
  const stops = random.sample(PLACES, 4);
  const both: (keyof typeof UNITS)[] = ["km", "nmi"];
  const units = random.shuffle([...both, random.pick(both)]);
  const legs = stops.slice(1).map((to, leg) => {
    const unit = units[leg] ?? "km";
    const [least, most] = unit === "nmi" ? [14, 36] : [24, 60];
    return { from: stops[leg] ?? to, to, tenths: 5 * random.int(least, most), unit };
  });
  return {
    legs,
    tenthsPerKm: 5 * random.int(15, 32),
    departure: 5 * random.int(5, 12),
    arrival: 5 * random.int(3, 8),
    tank: 200 * random.int(40, 75),
    reserve: random.pick([8, 12, 15, 18, 20, 22]),
  };
}

/** Traps: two units, departures and arrivals on each single leg, a reserve, complete round trips alone. */
export const ferryReserve = defineTemplate(
  { id: "math-ferry-reserve", version: 1, sample: "core-math-ferry-reserve" },
  (random) => {
    const vessel = random.pick(VESSELS);
    return drawUntil(() => {
      const voyage = drawVoyage(random);
      const { legs, tenthsPerKm, departure, arrival, tank, reserve } = voyage;
      const usable = (tank * LITRE * (100 - reserve)) / 100;
      const left = (way: number, ways = 2) => usable % (ways * way);
      const key = left(oneWay(voyage));
      const trips = Math.floor(usable / (2 * oneWay(voyage)));
      const landings = 2 * (legs.length - 1) * (departure + arrival) * LITRE;
      const wrong = [
        left(oneWay(voyage, { km: 1000, nmi: 1000 })),
        left(oneWay(voyage), 1),
        key + tank * LITRE - usable,
        (tank * LITRE) % (2 * oneWay(voyage)),
        left(oneWay(voyage) - landings / 2),
      ];
      // A result near the middle of two tenths would turn on the solver's arithmetic.
      const beyondTenth = key % (LITRE / 10);
      if (trips < 3 || trips > 6 || key < 20 * LITRE || Math.abs(beyondTenth - LITRE / 20) < LITRE / 50)
        return undefined;
      if (wrong.some((amount) => Math.abs(amount - key) < LITRE)) return undefined;
      const litres = (amount: number) => Math.round((10 * amount) / LITRE) / 10;
      return {
        prompt: `A ${vessel} sails the route in \`input\` out and back: every leg once in each direction makes one round trip. Legs are given in kilometres (km) or in nautical miles (nmi; 1 nmi = 1.852 km). The engine burns \`litres_per_km\`; on top of that, each single leg costs \`litres_per_departure\` and \`litres_per_arrival\`. The voyage begins with a full tank, and \`reserve_percent\` of the tank must never be used. The ${vessel} makes as many complete round trips as that allows. How many litres above the reserve are left afterwards? Answer with one number, rounded to one decimal place.`,
        input: {
          legs: legs.map(({ tenths, ...leg }) => ({ ...leg, distance: tenths / 10 })),
          litres_per_km: tenthsPerKm / 10,
          litres_per_departure: departure,
          litres_per_arrival: arrival,
          tank_litres: tank,
          reserve_percent: reserve,
        },
        output_format: "text",
        grader: { type: "numeric", tolerance: 0.05 },
        expected_output: litres(key),
        wrong_answers: wrong.map((amount) => String(litres(amount))),
      };
    });
  },
);
