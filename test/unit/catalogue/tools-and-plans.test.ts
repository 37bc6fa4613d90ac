import { describe, expect, test } from "vitest";
import { toolsAndPlans } from "../../../shared/suites/public/tools-and-plans/index.ts";
import { addDays, type Call, clockOf, minutesOf } from "./core-support.ts";
import { readerOf, testSuite } from "./suite-support.ts";

const { callsOf, inputOf } = readerOf(toolsAndPlans);
const call = (name: string, args: Call["arguments"]): Call => ({ name, arguments: args });
const byText = (calls: Call[]) => calls.map((made) => JSON.stringify(made)).toSorted();
const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000;

testSuite(toolsAndPlans, ["tool_use", "planning"]);

test("there are eleven tasks of tool use and eight of planning", () => {
  const count = (domain: string) => toolsAndPlans.tasks.filter((task) => task.domain === domain).length;
  expect([count("tool_use"), count("planning")]).toEqual([11, 8]);
});

describe("the expected calls are what the rules make of the input", () => {
  test("costume-hire-refund", () => {
    const order = inputOf<{
      order_id: string;
      customer_id: string;
      shipping_cents: number;
      items: { item_id: string; price_cents: number; returned: boolean; state: string | null }[];
      earlier_refunds: { item_id: string }[];
    }>("costume-hire-refund");
    const percent: Record<string, number> = { unopened: 100, opened: 85 };
    const due = order.items
      .filter(({ item_id, returned }) => returned && !order.earlier_refunds.some((done) => done.item_id === item_id))
      .reduce((sum, { price_cents, state }) => sum + (price_cents * (percent[state ?? ""] ?? 0)) / 100, 0);
    const shipping = order.items.every(({ returned }) => returned) ? order.shipping_cents : 0;
    expect(callsOf("costume-hire-refund")).toEqual([
      call("create_refund", { order_id: order.order_id, amount_cents: due + shipping }),
      call("send_notice", { customer_id: order.customer_id, template: "refund_partial" }),
    ]);
  });

  test("orchard-bills-of-march", () => {
    type Bill = { id: string; due: string; amount_cents: number; disputed: boolean };
    type Discount = { percent: number; until: string };
    const input = inputOf<{
      account_id: string;
      balance_cents: number;
      bills: (Bill & { discount: Discount | null })[];
    }>("orchard-bills-of-march");
    const workday = (day: string): string =>
      [0, 6].includes(new Date(day).getUTCDay()) ? workday(addDays(day, -1)) : day;
    const calls: Call[] = [];
    let balance = input.balance_cents;
    for (const bill of input.bills.toSorted((a, b) => a.due.localeCompare(b.due))) {
      if (bill.disputed) continue;
      const amount_cents = (bill.amount_cents * (100 - (bill.discount?.percent ?? 0))) / 100;
      if (amount_cents > balance) break;
      balance -= amount_cents;
      const day = workday(bill.discount?.until ?? bill.due);
      calls.push(call("schedule_payment", { account_id: input.account_id, bill_id: bill.id, amount_cents, day }));
    }
    expect(callsOf("orchard-bills-of-march")).toEqual(calls);
  });

  test("double-reported-faults", () => {
    type Ticket = { id: string; vehicle: number; part: string; opened: string; state: string };
    const { tickets } = inputOf<{ tickets: Ticket[] }>("double-reported-faults");
    const oldest = (of: Ticket) =>
      tickets
        .filter(({ vehicle, part }) => vehicle === of.vehicle && part === of.part)
        .toSorted((a, b) => a.opened.localeCompare(b.opened))[0] ?? of;
    const closed = tickets
      .map((ticket) => ({ ticket, first: oldest(ticket) }))
      .filter(({ ticket, first }) => ticket !== first && ticket.state === "open" && first.state === "open")
      .filter(({ ticket, first }) => daysBetween(`${first.opened}Z`, `${ticket.opened}Z`) <= 2);
    expect(callsOf("double-reported-faults")).toEqual(
      closed.map(({ ticket, first }) => call("close_ticket", { ticket_id: ticket.id, duplicate_of: first.id })),
    );
  });

  test("observatory-access-review", () => {
    type Account = { id: string; person_left: boolean; last_used: string; expires: string; protected: boolean };
    const { accounts } = inputOf<{ accounts: Account[] }>("observatory-access-review");
    const today = "2026-10-01";
    const calls = accounts.flatMap((account) => {
      if (account.protected) return [];
      if (account.person_left || daysBetween(account.last_used, today) > 90)
        return call("revoke_access", { account_id: account.id });
      if (daysBetween(today, account.expires) > 30) return [];
      const until = `${Number(account.expires.slice(0, 4)) + 1}${account.expires.slice(4)}`;
      return call("extend_access", { account_id: account.id, until });
    });
    expect(callsOf("observatory-access-review")).toEqual(calls);
  });

  test("names-in-a-ring: the renames run without a clash, and no shorter plan begins as asked", () => {
    const wanted = { "ash.csv": "birch.csv", "birch.csv": "cedar.csv", "cedar.csv": "ash.csv" };
    const names = [...Object.keys(wanted), "spare.csv"];
    type Plan = { files: Record<string, string>; steps: { from: string; to: string }[] };
    const extended = ({ files, steps }: Plan): Plan[] =>
      Object.keys(files).flatMap((from) =>
        names
          .filter((to) => !(to in files) && (steps.length > 0 || from === "birch.csv"))
          .map((to) => {
            const { [from]: content = "", ...others } = files;
            return { files: { ...others, [to]: content }, steps: [...steps, { from, to }] };
          }),
      );
    let plans: Plan[] = [{ files: Object.fromEntries(Object.keys(wanted).map((name) => [name, name])), steps: [] }];
    const done = ({ files }: Plan) => Object.entries(wanted).every(([content, name]) => files[name] === content);
    while (!plans.some(done)) plans = plans.flatMap(extended);
    expect(
      plans
        .filter(done)
        .map(({ steps }) => steps.map((step) => call("rename_file", { folder: "survey/2026", ...step }))),
    ).toEqual([callsOf("names-in-a-ring")]);
  });

  test("staged-flag-rollout", () => {
    type Region = { region: string; active_users: number; error_rate: number; freeze: boolean };
    const { flag, error_budget, regions } = inputOf<{ flag: string; error_budget: number; regions: Region[] }>(
      "staged-flag-rollout",
    );
    const going = regions.filter(({ freeze }) => !freeze).toSorted((a, b) => a.active_users - b.active_users);
    const share = (rate: number) => Math.min(100, Math.max(5, 5 * Math.floor(error_budget / rate / 5)));
    expect(callsOf("staged-flag-rollout")).toEqual([
      ...going.map(({ region, error_rate }) => call("set_share", { flag, region, percent: share(error_rate) })),
      call("announce", { flag, users: going.reduce((sum, { active_users }) => sum + active_users, 0) }),
    ]);
  });

  test("river-gauge-thresholds", () => {
    type Gauge = { id: string; bank_height: string; zero_mm: number; in_service: boolean };
    const { gauges } = inputOf<{ gauges: Gauge[] }>("river-gauge-thresholds");
    const tenthsOf: Record<string, number> = { ft: 3048, in: 254, m: 10_000, cm: 100 };
    const tenths = (height: string) =>
      [...height.matchAll(/([\d.]+) (ft|in|m|cm)\b/g)].reduce(
        (sum, [, n, unit = ""]) => sum + Number(n) * (tenthsOf[unit] ?? 0),
        0,
      );
    const working = gauges.filter(({ in_service }) => in_service);
    expect(callsOf("river-gauge-thresholds")).toEqual(
      working.map(({ id, bank_height, zero_mm }) =>
        call("set_alarm_level", {
          gauge_id: id,
          level_mm: Math.round(((tenths(bank_height) - 10 * zero_mm) * 3) / 40),
        }),
      ),
    );
  });

  test("nursery-watering-round", () => {
    type Bed = { valve: string; area_m2: number; deficit_mm: number; litres_per_minute: number };
    const { rain_expected_mm, beds } = inputOf<{ rain_expected_mm: number; beds: Bed[] }>("nursery-watering-round");
    let start = minutesOf("04:50");
    const calls = beds
      .map((bed) => ({ ...bed, millimetres: bed.deficit_mm - rain_expected_mm }))
      .filter(({ millimetres }) => millimetres > 2)
      .toSorted((a, b) => b.millimetres - a.millimetres)
      .map(({ valve, area_m2, millimetres, litres_per_minute }) => {
        const minutes = Math.ceil((area_m2 * millimetres) / litres_per_minute);
        const made = call("open_valve", { valve, start: clockOf(start), minutes });
        start += minutes + 3;
        return made;
      });
    expect(callsOf("nursery-watering-round")).toEqual(calls);
  });

  test("cave-tour-search", () => {
    const { today, request } = inputOf<{ today: string; request: string }>("cave-tour-search");
    const [friday = ""] = /\d{4}-\d\d-\d\d/.exec(today) ?? [];
    expect(new Date(friday).getUTCDay()).toBe(5);
    const ages = [41, 41, 11, 11, 12, 66];
    expect(request).toMatch(/both 41\), the twins \(11\), our eldest who has just turned 12, and my mother, 66/);
    const [, cash, bus] = /have (\d+) dollars with us and need ([\d.]+) for the bus/.exec(request) ?? [];
    expect(callsOf("cave-tour-search")).toEqual([
      call("search_tours", {
        date: addDays(friday, 2 + 7),
        group: {
          children: ages.filter((age) => age < 12).length,
          adults: ages.filter((age) => age >= 12 && age < 65).length,
          seniors: ages.filter((age) => age >= 65).length,
        },
        language: "en",
        step_free: true,
        not_before: "12:00",
        end_by: clockOf(16 * 60 + 30),
        max_price_cents: Math.round(100 * (Number(cash) - Number(bus))),
      }),
    ]);
  });

  test("camera-trap-captions", () => {
    type Picture = { id: string; camera: string; time: string; seen: { name: string; confidence: number }[] };
    const { pictures } = inputOf<{ pictures: Picture[] }>("camera-trap-captions");
    const seconds = ({ time }: Picture) => minutesOf(time) * 60 + Number(time.slice(6));
    const hidden = pictures.filter(({ seen }) =>
      seen.some(({ name, confidence }) => name === "person" && confidence >= 0.3),
    );
    const shown = pictures.filter((picture) => !hidden.includes(picture));
    const follows = (a: Picture, b: Picture) => a.camera === b.camera && Math.abs(seconds(b) - seconds(a)) < 60;
    const series = shown
      .filter((picture, index) => !shown.slice(0, index).some((earlier) => follows(earlier, picture)))
      .map((first) => {
        const seen = shown.filter((picture) => follows(first, picture)).flatMap((picture) => picture.seen);
        const names = seen.filter(({ confidence }) => confidence >= 0.7).map(({ name }) => name);
        return { id: first.id, labels: [...new Set(names)].toSorted() };
      });
    expect(byText(callsOf("camera-trap-captions"))).toEqual(
      byText([
        ...hidden.map(({ id }) => call("hide_picture", { picture_id: id })),
        ...series
          .filter(({ labels }) => labels.length > 0)
          .map(({ id, labels }) => call("set_labels", { picture_id: id, labels })),
      ]),
    );
  });

  test("ranger-shift-reminders", () => {
    type Ranger = { id: string; utc_offset: string; shift_start_local: string; on_leave: boolean };
    const { rangers } = inputOf<{ rangers: Ranger[] }>("ranger-shift-reminders");
    const calls = rangers
      .filter(({ on_leave }) => !on_leave)
      .map(({ id, utc_offset, shift_start_local }) => {
        const planned = new Date(Date.parse(`${shift_start_local}Z`) - 90 * 60_000).toISOString();
        const [day, time] = [planned.slice(0, 10), planned.slice(11, 16)];
        const quiet = time >= "21:00" ? `${day}T20:45` : time < "07:00" ? `${addDays(day, -1)}T20:45` : undefined;
        const at = new Date(`${quiet ?? planned.slice(0, 16)}${utc_offset}`).toISOString();
        return call("schedule_reminder", { ranger_id: id, at_utc: `${at.slice(0, 16)}Z` });
      });
    expect(callsOf("ranger-shift-reminders")).toEqual(calls);
  });
});
