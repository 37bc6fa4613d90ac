import { zip } from "../../templates/lists.ts";
import { drawUntil } from "../../templates/random.ts";
import { dayNumber, longDate, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";
import { FAMILY_NAMES, PLACES } from "../../templates/words.ts";

const policyVersions = defineTemplate(
  {
    id: "policy-versions",
    title: "The limit in force",
    domain: "retrieval",
    output_format: "json",
    reference_cost_usd: 0.006,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [company] = random.companies(1);
    const [region, otherRegion] = random.sample(PLACES, 2);
    const [item, otherItem] = random.sample(["hotel nights", "meals", "train seats", "hire cars"] as const, 2);
    const start = dayNumber(2025, 1, 1) + random.int(0, 300);
    const day = (step: number) => start + 90 * step + random.int(0, 60);
    const [first, second, draft, amended, asked, third] = [day(0), day(1), day(2), day(3), day(4), day(5)];
    const limit = () => random.int(40, 180);
    const [base, rise] = [limit(), random.int(5, 25)];
    const rule = (place: string, what: string, from: number, amount: number) =>
      `Rules of ${company} for ${place}: from ${longDate(from)} up to $${amount} is paid for ${what}; earlier rules for ${what} end.`;
    const amendment = (place: string, what: string, from: number, amount: number) =>
      `Amendment for ${place}: with effect from ${longDate(from)} the limit for ${what} that is in force rises by $${amount}.`;
    const needed = [rule(region, item, second, base), amendment(region, item, amended, rise)];
    const texts = random.shuffle([
      ...needed,
      rule(region, item, first, limit()),
      rule(region, item, third, limit()),
      rule(region, otherItem, draft, limit()),
      rule(otherRegion, item, draft, limit()),
      amendment(otherRegion, item, amended + 1, random.int(5, 25)),
      amendment(region, item, asked + random.int(1, 20), random.int(5, 25)),
      `Draft, never adopted. ${rule(region, item, draft, limit())}`,
    ]);
    const passages = zip(random.codes("D", 9), texts).map(([id, text]) => ({ id, text }));
    const sources = passages.filter(({ text }) => needed.includes(text)).map(({ id }) => id);
    return {
      prompt: prose(
        `Use only the passages of the input. What limit in dollars holds for ${item} in ${region} on ${longDate(asked)}?`,
        "Answer with a JSON object and nothing else:",
        '{"limit": number, "sources": [ids of exactly the passages that the number is computed from, in any order]}.',
      ),
      input: { passages },
      grader: { type: "json_fields", unordered: ["sources"] },
      expected_output: { limit: base + rise, sources },
    };
  },
);

const directoryHops = defineTemplate(
  {
    id: "directory-hops",
    title: "Three steps through a directory",
    domain: "retrieval",
    output_format: "json",
    reference_cost_usd: 0.006,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [first, other] = random.people(2);
    const [family, namesake] = random.sample(FAMILY_NAMES, 2);
    const [teamA, teamB, teamC] = random.sample(["Amber", "Birch", "Cobalt", "Dune", "Ember", "Flint"] as const, 3);
    const [siteA, siteB, siteC] = random.sample(PLACES, 3);
    const [depotA, depotB, depotC] = random.companies(3);
    const year = random.int(2019, 2025);
    const needed = [
      random.pick([
        `${first} ${family} is the head of team ${teamA}.`,
        `Team ${teamA} is headed by ${first} ${family}.`,
      ]),
      random.pick([
        `In ${year + 1} team ${teamA} moved from ${siteA} to ${siteB}.`,
        `Team ${teamA} left ${siteA} in ${year + 1}; it works at ${siteB} now.`,
      ]),
      random.pick([`The site at ${siteB} is supplied by ${depotB}.`, `${depotB} supplies the site at ${siteB}.`]),
    ];
    const texts = random.shuffle([
      ...needed,
      `Since ${year} team ${teamA} has worked at ${siteA}.`,
      `The site at ${siteA} is supplied by ${depotA}.`,
      `The site at ${siteC} is supplied by ${depotC}.`,
      `${first} ${namesake} is the head of team ${teamB}.`,
      `Team ${teamB} works at ${siteC}.`,
      `${other} ${family} is the deputy head of team ${teamC}.`,
      `In ${year + 1} team ${teamC} moved from ${siteB} to ${siteA}.`,
    ]);
    const passages = zip(random.codes("K", 10), texts).map(([id, text]) => ({ id, text }));
    return {
      prompt: prose(
        "Use only the passages of the input; a later year overrides an earlier one. Which company supplies the site where the",
        `team headed by ${first} ${family} works today? Answer with a JSON object and nothing else: {"company": name,`,
        '"sources": [ids of the three passages that prove it, in any order]}.',
      ),
      input: { passages },
      grader: { type: "json_fields", unordered: ["sources"] },
      expected_output: {
        company: depotB,
        sources: passages.filter(({ text }) => needed.includes(text)).map(({ id }) => id),
      },
    };
  },
);

const COOLING = ["the chillers stopped without warning", "the coolant pump seized", "the air conditioning gave out"];
const OTHER = [
  "the mains supply was lost",
  "a water pipe burst in the canteen",
  "the chillers were switched off for their planned service",
  "staff rehearsed what to do when cooling fails; nothing was broken",
  "the coolant pump was replaced by a newer model ahead of time",
];
const QUARTERS = [
  ["January", "February", "March"],
  ["April", "May", "June"],
  ["July", "August", "September"],
  ["October", "November", "December"],
] as const;

const incidentReports = defineTemplate(
  {
    id: "incident-reports",
    title: "All reports of a kind",
    domain: "retrieval",
    output_format: "json",
    reference_cost_usd: 0.005,
    reference_latency_ms: 7000,
  },
  (random) => {
    const [site, ...otherSites] = random.sample(PLACES, 3);
    const quarter = random.int(0, 3);
    return drawUntil(() => {
      const reports = random.codes("R", 12).map((id) => {
        const where = random.pick([site, site, site, ...otherSites]);
        const when = random.pick([quarter, quarter, quarter, (quarter + 1) % 4]);
        const failure = random.pick([true, true, false]);
        const what = random.pick(failure ? COOLING : OTHER);
        const day = `${random.int(1, 28)} ${random.pick(QUARTERS[when] ?? [])}`;
        return { id, text: `${where}, ${day}: ${what}.`, asked: where === site && when === quarter && failure };
      });
      const found = reports.filter(({ asked }) => asked).map(({ id }) => id);
      if (found.length < 3 || found.length > 5) return undefined;
      return {
        prompt: prose(
          "The input holds short reports of one year. Which of them report an unplanned failure of cooling equipment at",
          `${site} in the ${["first", "second", "third", "fourth"][quarter]} quarter of the year (January to March is the first)?`,
          "Answer with a JSON array of the ids and nothing else; the order does not matter.",
        ),
        input: { reports: reports.map(({ id, text }) => ({ id, text })) },
        grader: { type: "set_f1" },
        expected_output: found,
      };
    });
  },
);

/** Templates of the domain `retrieval`. */
export const retrievalTemplates = [policyVersions, directoryHops, incidentReports];
