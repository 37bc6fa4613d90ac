import { describe, expect, test } from "vitest";
import { clockOf, inputOf, keyOf, minutesOf, permutations, subsets } from "./core-support.ts";

describe("core-planning-barn-schedule", () => {
  type Job = { job: string; days: number; crews: number; crane: boolean; after: string[] };
  const { crews, jobs } = inputOf<{ crews: number; jobs: Job[] }>("core-planning-barn-schedule");

  /** The number of days that the jobs take at least, found by trying every choice of jobs to begin on every day. */
  const shortest = (limits: { crews: number; cranes: number }) => {
    let states = new Map([[jobs.map(({ days }) => days).join(), jobs.map(({ days }) => days)]]);
    for (let day = 0; ; day += 1) {
      const next = new Map<string, number[]>();
      for (const left of states.values()) {
        if (left.every((days) => days === 0)) return day;
        const done = (name: string) => left[jobs.findIndex(({ job }) => job === name)] === 0;
        const running = jobs.filter(({ days }, index) => left[index] !== 0 && left[index] !== days);
        const ready = jobs.filter(({ days, after }, index) => left[index] === days && after.every(done));
        for (const begun of subsets(ready)) {
          const today = [...running, ...begun];
          if (today.reduce((sum, job) => sum + job.crews, 0) > limits.crews) continue;
          if (today.filter(({ crane }) => crane).length > limits.cranes) continue;
          const after = left.map((days, index) => days - Number(today.some((job) => job === jobs[index])));
          next.set(after.join(), after);
        }
      }
      states = next;
    }
  };

  test("the key is the least number of days over all schedules", () => {
    expect(shortest({ crews, cranes: 1 })).toBe(keyOf("core-planning-barn-schedule"));
  });

  test("whoever forgets the crane or the number of crews gets another number", () => {
    expect(shortest({ crews, cranes: 9 })).not.toBe(keyOf("core-planning-barn-schedule"));
    expect(shortest({ crews: 9, cranes: 1 })).not.toBe(keyOf("core-planning-barn-schedule"));
  });
});

describe("core-planning-sledge-load", () => {
  type Thing = { name: string; kg: number; litres: number; value: number };
  const input = inputOf<{ max_kg: number; max_litres: number; things: Thing[] }>("core-planning-sledge-load");
  const total = (load: Thing[], of: "kg" | "litres" | "value") => load.reduce((sum, thing) => sum + thing[of], 0);
  const fits = (load: Thing[]) => total(load, "kg") <= input.max_kg && total(load, "litres") <= input.max_litres;
  const best = (loads: Thing[][]) => {
    const most = Math.max(...loads.map((load) => total(load, "value")));
    return loads.filter((load) => total(load, "value") === most).map((load) => load.map(({ name }) => name));
  };

  test("the key is the one allowed load of the greatest value", () => {
    const allowed = subsets(input.things).filter((load) => {
      const has = (name: string) => load.some((thing) => thing.name === name);
      return fits(load) && (!has("drill") || has("echo-sounder")) && !(has("altimeter") && has("camera"));
    });
    expect(best(allowed)).toEqual([keyOf("core-planning-sledge-load")]);
  });

  test("the two rules matter: without them another load is best", () => {
    expect(best(subsets(input.things).filter(fits))).not.toContainEqual(keyOf("core-planning-sledge-load"));
  });
});

describe("core-planning-bread-tour", () => {
  const input = inputOf<{
    unloading_minutes: number;
    driving_minutes: Record<string, Record<string, number>>;
    shops: Record<string, { earliest: number; latest: number }>;
  }>("core-planning-bread-tour");
  const drive = (from: string, to: string) =>
    input.driving_minutes[from]?.[to] ?? input.driving_minutes[to]?.[from] ?? Number.NaN;
  const driving = (order: string[]) =>
    ["yard", ...order].reduce((sum, place, index) => sum + drive(place, order[index] ?? "yard"), 0);
  const inTime = (order: string[]) => {
    let minute = 0;
    return order.every((shop, index) => {
      const { earliest, latest } = input.shops[shop] ?? { earliest: 0, latest: -1 };
      const begin = Math.max(minute + drive(order[index - 1] ?? "yard", shop), earliest);
      minute = begin + input.unloading_minutes;
      return begin <= latest;
    });
  };
  const shortest = (orders: string[][]) => {
    const least = Math.min(...orders.map(driving));
    return orders.filter((order) => driving(order) === least).map((order) => order.join("-"));
  };
  const orders = permutations(Object.keys(input.shops));

  test("the key is the one order in time with the fewest driving minutes", () => {
    expect(shortest(orders.filter(inTime))).toEqual([keyOf("core-planning-bread-tour")]);
  });

  test("the opening times matter: without them another order is shorter", () => {
    expect(shortest(orders)).not.toContain(keyOf("core-planning-bread-tour"));
  });
});

describe("core-planning-video-call", () => {
  test("the key is the earliest quarter of an hour at which all people and a single room are free", () => {
    type Busy = { name: string; busy: [string, string][] };
    const { minutes, working_hours, people, rooms } = inputOf<{
      minutes: number;
      working_hours: [string, string];
      people: (Busy & { utc_offset_hours: number })[];
      rooms: Busy[];
    }>("core-planning-video-call");
    const span = (from: number) => Array.from({ length: minutes }, (_, minute) => from + minute);
    const within = (minute: number, [from, to]: [string, string]) =>
      minutesOf(from) <= minute && minute < minutesOf(to);
    const free = ({ busy }: Busy, from: number) =>
      !span(from).some((minute) => busy.some((entry) => within(minute, entry)));
    const slots = Array.from({ length: 96 }, (_, quarter) => quarter * 15)
      .filter((start) =>
        people.every((person) => {
          const local = start + person.utc_offset_hours * 60;
          return free(person, local) && span(local).every((minute) => within(minute, working_hours));
        }),
      )
      .map((start) => ({
        start_utc: clockOf(start),
        rooms: rooms.filter((room) => free(room, start)).map(({ name }) => name),
      }))
      .filter((slot) => slot.rooms.length > 0);
    const [earliest] = slots;
    expect(earliest?.rooms).toHaveLength(1);
    expect({ start_utc: earliest?.start_utc, room: earliest?.rooms[0] }).toEqual(keyOf("core-planning-video-call"));
  });
});
