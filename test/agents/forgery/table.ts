import { core } from "../../../shared/suites/public/core/index.ts";
import type { User } from "../../stack/client.ts";
import { CUT } from "../../stack/http.ts";
import { type Gain, gainOf, type Row, rowOf } from "./gain.ts";
import { ensured, type Ground, newPeople } from "./ground.ts";
import {
  type AgentRequest,
  type AnswerBody,
  byHeart,
  CLUELESS,
  halfSkilled,
  lucky,
  type Memory,
  remembering,
  skilled,
  Told,
} from "./mind.ts";

/** A way to climb without being better, and the honest agent that is as good. */
export interface Forgery {
  name: string;
  how: string;
  twin: string;
  /** Whether it must gain nothing. */
  prevented: boolean;
  /** What the board must say of it: always where it can't be prevented. Null where it says nothing. */
  said: null | ((row: Row, page: string) => boolean);
  /** Screens both; returns their ids. */
  play(ground: Ground): Promise<{ honest: string; forged: string }>;
}

const REPEATS = 2;

/** An agent that is screened on the whole core. */
async function screened(
  ground: Ground,
  mind: Parameters<Ground["register"]>[1],
  repeats = REPEATS,
  owner = ground.owner,
) {
  const agent = await ground.register(owner, mind);
  await ground.screen(owner, agent, repeats);
  return agent;
}

/** What an owner learns from a screening: everything that was asked, with what would have been right. */
async function learn(ground: Ground, owner: User): Promise<Memory[]> {
  const asked = new Map<string, AgentRequest["task"]>();
  const agent = await ground.register(owner, (told) => {
    asked.set(told.run_id, told.task);
    return CLUELESS;
  });
  const memory: Memory[] = [];
  for (const run of await ground.screen(owner, agent, REPEATS)) {
    const path = `/api/v1/runs/${run}/output`;
    const { instance } = ensured(
      await owner.call<{ instance: { expected_output: Memory["answer"] } | null }>("GET", path),
      200,
    );
    const task = asked.get(run);
    // Of a canary, which was asked the sample, nobody is told what would have been right.
    if (task !== undefined && instance !== null) memory.push({ asked: task, answer: instance.expected_output });
  }
  return memory;
}

/** What is published of the core's tasks. */
function samples({ tasks }: Ground): Memory[] {
  return core.tasks
    .filter(({ slug }) => tasks.has(slug))
    .map(({ prompt, input = null, expected_output }) => ({
      asked: Told.shape.task.parse({ prompt, input }),
      answer: expected_output,
    }));
}

/** What the board's page has in an agent's row. */
const rowOn = (page: string, { agent_id }: Row) => page.slice(page.indexOf(agent_id)).split("</tr>")[0] ?? "";

const paying =
  (usage: object | undefined) =>
  (asked: AgentRequest): AnswerBody => {
    const { output } = halfSkilled(asked);
    return usage === undefined ? { output } : { output, usage };
  };
/** Three times and more what the tasks' references allow. */
const dear = paying({ calls: [{ model: "gpt-5", input_tokens: 4000, output_tokens: 1500 }] });

const twins = new WeakMap<Ground["service"], Map<Parameters<Ground["register"]>[1], Promise<string>>>();

/** An honest agent, screened once for all forgeries that are compared with it. */
function honestly(ground: Ground, mind: Parameters<Ground["register"]>[1]): Promise<string> {
  const known = twins.get(ground.service) ?? new Map<typeof mind, Promise<string>>();
  twins.set(ground.service, known);
  const twin = known.get(mind) ?? screened(ground, mind);
  known.set(mind, twin);
  return twin;
}

const half = (ground: Ground) => honestly(ground, halfSkilled);
const clueless = () => CLUELESS;

/** All forgeries that are known. */
export const FORGERIES: readonly Forgery[] = [
  {
    name: "remembers",
    how: "knows every task it was asked before, and what its owner read would have been right",
    twin: "can do half of the tasks",
    prevented: true,
    said: null,
    async play(ground) {
      const memory = await learn(ground, ground.owner);
      return { honest: await half(ground), forged: await screened(ground, remembering(memory)) };
    },
  },
  {
    name: "samples",
    how: "knows the published samples and their keys by heart",
    twin: "can do half of the tasks",
    prevented: true,
    said: null,
    async play(ground) {
      return { honest: await half(ground), forged: await screened(ground, remembering(samples(ground))) };
    },
  },
  {
    name: "canaries",
    how: "answers from the published samples alone, until twenty canaries have shown it",
    twin: "knows that it does not know",
    prevented: true,
    said: (row, page) =>
      row.memorised && rowOn(page, row).includes('">memorised</span>') && page.includes("as memorised if"),
    async play(ground) {
      const honest = await honestly(ground, clueless);
      const forged = await screened(ground, byHeart(samples(ground)), 10);
      while ((await rowOf(ground, forged)).memorisation_gap === null) await ground.screen(ground.owner, forged, 10);
      return { honest, forged };
    },
  },
  {
    name: "shared answers",
    how: "knows what another owner's agent was asked, and what would have been right",
    twin: "can do half of the tasks",
    prevented: true,
    said: null,
    async play(ground) {
      const memory = await learn(ground, ground.stranger);
      return { honest: await half(ground), forged: await screened(ground, remembering(memory)) };
    },
  },
  {
    name: "cancels",
    how: "has its owner cancel each run that it can't do, and hangs up",
    twin: "can do half of the tasks",
    prevented: true,
    said: null,
    async play(ground) {
      const refused: number[] = [];
      const forged = await screened(ground, async (asked) => {
        const own = skilled(asked);
        if (own !== null) return own;
        refused.push((await ground.owner.call("POST", `/api/v1/runs/${asked.run_id}/cancel`)).status);
        return CUT;
      });
      if (refused.length === 0 || refused.some((status) => status !== 409))
        throw new Error(`cancelled: ${refused.join()}`);
      return { honest: await half(ground), forged };
    },
  },
  {
    name: "screens again",
    how: "passes half of its runs by chance; is screened again after ten rounds until it is ahead, five times at most",
    twin: "has the same luck in its first ten rounds, and leaves it at that",
    prevented: true,
    said: null,
    async play(ground) {
      const honest = await screened(ground, lucky("again"), 10);
      const forged = await screened(ground, lucky("again"), 10);
      const goal = (await rowOf(ground, honest)).composite_score;
      for (let more = 0; more < 5 && (await rowOf(ground, forged)).composite_score <= goal; more += 1)
        await ground.screen(ground.owner, forged, 1);
      return { honest, forged };
    },
  },
  {
    name: "picks",
    how: "passes half of its runs by chance; the tasks that went worst are asked again after ten rounds",
    twin: "has the same luck in its first ten rounds, and leaves it at that",
    prevented: false,
    said: (row, page) =>
      row.uneven &&
      row.asked_runs === 104 &&
      rowOn(page, row).includes('">uneven</span>') &&
      page.includes("as uneven if"),
    async play(ground) {
      const honest = await screened(ground, lucky("picked"), 10);
      const forged = await screened(ground, lucky("picked"), 10);
      for (let more = 0; more < 6; more += 1)
        await ground.screen(ground.owner, forged, 1, await worst(ground, forged, 4));
      return { honest, forged };
    },
  },
  {
    name: "constant",
    how: "answers at once, and always the same",
    twin: "knows that it does not know",
    prevented: true,
    said: null,
    async play(ground) {
      return {
        honest: await honestly(ground, clueless),
        forged: await screened(ground, () => ({ ...CLUELESS, output: "42" })),
      };
    },
  },
  {
    name: "hides costs",
    how: "is dear, and says nothing of what it cost",
    twin: "says what its calls cost",
    prevented: true,
    said: null,
    async play(ground) {
      return { honest: await honestly(ground, dear), forged: await screened(ground, paying(undefined)) };
    },
  },
  {
    name: "a total",
    how: "is dear, and reports a total of nothing without calls",
    twin: "says what its calls cost",
    prevented: true,
    said: null,
    async play(ground) {
      return { honest: await honestly(ground, dear), forged: await screened(ground, paying({ cost_usd: 0 })) };
    },
  },
  {
    name: "free calls",
    how: "is dear, and reports that its calls were free",
    twin: "says what its calls cost",
    prevented: false,
    said: (row, page) =>
      row.evidence_cost_floor_applied &&
      page.includes("cost at floor") &&
      page.includes("reported by the agents themselves"),
    async play(ground) {
      const free = paying({ calls: [{ model: "gpt-5", cost_usd: 0 }] });
      return { honest: await honestly(ground, dear), forged: await screened(ground, free) };
    },
  },
  {
    name: "variants",
    how: "passes half of its runs by chance; of its root's twenty variants it is the luckiest",
    twin: "passes half of its runs by chance",
    prevented: false,
    said: (row, page) => row.variants === 20 && page.includes("20 variants") && page.includes("show the best"),
    async play(ground) {
      const honest = await screened(ground, lucky("variant 1"), 1);
      const root = await ground.register(ground.owner, () => CLUELESS);
      const variants: Row[] = [];
      for (let n = 1; n <= 20; n += 1) {
        const agent = await ground.register(ground.owner, lucky(`variant ${n}`), { variant_of: root });
        await ground.screen(ground.owner, agent, 1);
        variants.push(await rowOf(ground, agent));
      }
      return { honest, forged: best(variants).agent_id };
    },
  },
  {
    name: "begins anew",
    how: "passes half of its runs by chance; is deleted and registered anew until it is ahead, five times at most",
    twin: "passes half of its runs by chance",
    prevented: false,
    said: (_row, page) => page.includes("show the best"),
    async play(ground) {
      const honest = await screened(ground, lucky("life 1"), 1);
      const goal = (await rowOf(ground, honest)).composite_score;
      for (let life = 1; ; life += 1) {
        const forged = await ground.register(ground.owner, lucky(`life ${life}`));
        const [run] = await ground.screen(ground.owner, forged, 1);
        if (life === 5 || (await rowOf(ground, forged)).composite_score > goal) return { honest, forged };
        ensured(await ground.owner.call("DELETE", `/api/v1/agents/${forged}`), 204);
        // What it was stays said.
        ensured(await ground.anybody.call("GET", `/api/v1/runs/${run}/evidence`), 200);
      }
    },
  },
];

/** The tasks that an agent passed the least often in its scored runs, as anybody reads them. */
async function worst({ anybody, tasks }: Ground, agent: string, count: number): Promise<string[]> {
  const passes = [...tasks.values()].map(async (task) => {
    const path = `/api/v1/runs?agent_id=${agent}&task_id=${task}&page_size=20`;
    const { items } = ensured(
      await anybody.call<{ items: { passed: boolean | null; canary: boolean }[] }>("GET", path),
      200,
    );
    const scored = items.filter(({ canary }) => !canary).slice(0, 10);
    return { task, passed: scored.filter(({ passed }) => passed === true).length };
  });
  const order = (await Promise.all(passes)).toSorted((one, other) => one.passed - other.passed);
  return order.slice(0, count).map(({ task }) => task);
}

/** The highest of some rows. */
function best(rows: readonly Row[]): Row {
  return rows.reduce((one, other) => (other.composite_score > one.composite_score ? other : one));
}

/** What became of a forgery. */
export interface Outcome {
  gain: Gain;
  /** Whether the board says what it must; null where that is nothing. */
  said: boolean | null;
}

/** Carries a forgery out, by people whom nobody has met. */
export async function carryOut(base: Ground, forgery: Forgery): Promise<Outcome> {
  const ground = { ...base, ...(await newPeople(base.service)) };
  const { honest, forged } = await forgery.play(ground);
  const gain = await gainOf(ground, honest, forged);
  const page = (await ground.anybody.call("GET", "/?page_size=100")).text;
  return { gain, said: forgery.said?.(await rowOf(ground, forged), page) ?? null };
}
