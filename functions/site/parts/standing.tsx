import type * as z from "zod";
import type { AgentRead } from "../../../shared/agents/shown.ts";
import { AgentHistory } from "../../../shared/board/history-shown.ts";
import { PASS_SCORE } from "../../../shared/certification/terms.ts";
import { CertifyEligibility } from "../../../shared/certification/shown.ts";
import { AgentReadiness } from "../../../shared/runs/readiness-shown.ts";
import type { Api } from "./api.ts";
import { failureInWords } from "./failures.ts";
import { HINDRANCES } from "./hindrances.ts";
import { usd } from "./in-words.ts";
import { ScoreLine } from "./score-line.tsx";

type Agent = z.output<typeof AgentRead>;

/** What is known of an agent beside its record. */
export interface Standing {
  agent: Agent;
  /** Day by day, the newest first. */
  history: z.output<typeof AgentHistory>["items"];
  readiness: z.output<typeof AgentReadiness>;
  eligibility: z.output<typeof CertifyEligibility>;
}

/** Something that an agent needs, whether it has it, and where that is changed. */
interface Need {
  met: boolean;
  what: unknown;
}

/** Reads how an agent of the visitor's own stands. */
export async function readStanding(api: Api, agent: Agent): Promise<Standing> {
  const at = `/api/v1/agents/${agent.id}`;
  const [{ items }, readiness, eligibility] = await Promise.all([
    api.read(`${at}/history?period=30d`, AgentHistory),
    api.read(`${at}/readiness`, AgentReadiness),
    api.read(`/api/v1/certify/eligibility?agent_id=${agent.id}`, CertifyEligibility),
  ]);
  return { agent, history: items, readiness, eligibility };
}

/** What a place on the public board takes, in the order in which one would see to it. */
function needsOf({ agent, readiness: { endpoint } }: Standing, coreTasks: number): Need[] {
  const edit = `/agents/${agent.id}/edit`;
  const screen = `/agents/${agent.id}/screen`;
  const { score_basis: basis, simulated } = agent;
  const core = coreTasks === 1 ? "the core task" : `each of the ${coreTasks} core tasks`;
  return [
    {
      met: agent.has_endpoint,
      what: agent.has_endpoint ? (
        "It has an endpoint to call"
      ) : (
        <>
          It has no endpoint to call: <a href={edit}>connect it</a>
        </>
      ),
    },
    ...(endpoint.state === "failing"
      ? [
          {
            met: false,
            what: (
              <>
                Its endpoint failed when it was last called. {failureInWords(endpoint.failure_code ?? "unknown")}{" "}
                <a href={edit}>Check it</a>
              </>
            ),
          },
        ]
      : []),
    {
      met: basis === "core" && !simulated,
      what:
        basis === "core" && !simulated ? (
          `It has counted runs of ${core}`
        ) : (
          <>
            {basis === null
              ? "No run of it counts yet"
              : simulated
                ? "Its runs are simulated"
                : "Some runs are missing"}
            : a rank takes one of {core} that is neither private nor simulated. <a href={screen}>Screen it</a>
          </>
        ),
    },
    {
      met: agent.is_public,
      what: agent.is_public ? (
        "Everybody sees it"
      ) : (
        <>
          It is private: <a href={edit}>show it to everybody</a>
        </>
      ),
    },
  ];
}

/** What may be bought; done where the score so far is certified: nobody should pay to learn what the record says. */
function prospectOf({ agent, eligibility: { price_usd: price, runs_needed: runs } }: Standing): Need {
  const { score_basis: basis, simulated, composite_score: score } = agent;
  const counts = basis !== null && !simulated;
  const way = `/agents/${agent.id}/certify`;
  const offer = `for ${usd(price)}, ${runs} runs among them`;
  if (counts && score >= PASS_SCORE)
    return {
      met: true,
      what: (
        <>
          It can be certified, {offer}: <a href={way}>certify it</a>
        </>
      ),
    };
  return {
    met: false,
    what: (
      <>
        A score of {PASS_SCORE}: {counts ? `so far it has ${score.toFixed(2)}` : "no run of it counts yet"}.{" "}
        <a href={way}>Certify it</a>, {offer}
      </>
    ),
  };
}

function Checks({ needs }: { needs: readonly Need[] }) {
  return (
    <ul class="checks">
      {needs.map(({ met, what }) => (
        <li {...(met ? { class: "met" } : {})}>
          <span class="unseen">{met ? "Done: " : "Open: "}</span>
          {what}.
        </li>
      ))}
    </ul>
  );
}

/** The last 30 days of an agent, and what keeps it from a rank and from a certificate. */
export function StandingShown({ standing, coreTasks }: { standing: Standing; coreTasks: number }) {
  const { agent, history, eligibility } = standing;
  return (
    <section aria-labelledby={`standing-${agent.id}`}>
      <h3 id={`standing-${agent.id}`}>
        <a href={`/agents/${agent.id}`}>
          <bdi>{agent.name}</bdi>
        </a>
      </h3>
      <div class="pair">
        <div>
          <h4>{agent.rank === null ? "What a rank takes" : `Ranked ${agent.rank}`}</h4>
          <Checks needs={needsOf(standing, coreTasks)} />
          <h4>What a certificate takes</h4>
          <Checks
            needs={
              eligibility.eligible
                ? [prospectOf(standing)]
                : eligibility.reasons.map((reason) => ({
                    met: reason === "already_certified",
                    what: HINDRANCES[reason],
                  }))
            }
          />
        </div>
        {history.length === 0 ? (
          <p class="mute">No score in the last 30 days.</p>
        ) : (
          <ScoreLine title="The last 30 days" history={history} />
        )}
      </div>
    </section>
  );
}
