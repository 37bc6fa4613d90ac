import type * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { ListingRead } from "../../shared/marketplace/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { apiOf } from "./parts/api.ts";
import { Refused, type Wrong } from "./parts/form.tsx";
import { NO_RUN_COUNTS, recordOf } from "./parts/in-words.ts";
import { Deal, deal, Offered, TERMS } from "./parts/listing.tsx";
import { Notice } from "./parts/notice.tsx";
import { isSignedIn } from "./parts/signed-in.ts";
import { unless } from "./parts/unless.ts";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";

const Agent = AgentRead.pick({
  composite_score: true,
  score_low: true,
  score_high: true,
  score_basis: true,
  simulated: true,
  memorised: true,
  uneven: true,
  allow_trial: true,
});

/** Why nobody but its seller sees a listing. */
function OffOffer({ is_active, agent_id }: Pick<z.output<typeof ListingRead>, "is_active" | "agent_id">) {
  return (
    <Notice>
      {is_active ? (
        <p>
          Nobody but you sees this now. It is on offer while{" "}
          <a href={`/agents/${agent_id}`}>its agent is public, active and yours</a>, and{" "}
          <a href="/marketplace/seller">buyers can pay you</a>.
        </p>
      ) : (
        <p>
          It is withdrawn, and nobody but you sees it. <a href="/marketplace/seller">Make another</a>
        </p>
      )}
    </Notice>
  );
}

/** Its form carries a key that is good for one purchase: no cache may hand that to somebody else. */
async function show({ c, ctx, own, api, params }: Visit, wrong?: Wrong): Promise<Response> {
  const path = `/api/v1/marketplace/listings/${params["listing_id"]}`;
  const listing = await api.read(path, ListingRead);
  const stranger = apiOf(c, ctx, own, { as: "stranger" });
  const [agent, offered] = await Promise.all([
    unless("not_found", api.read(`/api/v1/agents/${listing.agent_id}`, Agent)),
    listing.is_own ? unless("not_found", stranger.read(path, ListingRead)) : listing,
  ]);
  const { title, is_own, is_active } = listing;
  return personal(
    c,
    <Layout
      title={title}
      told={listing.description}
      {...(isSignedIn(c) ? { own: "/marketplace" } : { at: "/marketplace" })}
    >
      <h1>
        <bdi>{title}</bdi>
      </h1>
      <Refused wrong={wrong} labels={{}} />
      {offered === null && <OffOffer {...listing} />}
      <Offered listing={listing} record={agent === null ? NO_RUN_COUNTS : recordOf(agent)} />
      {!is_own && <p>{TERMS}</p>}
      {!is_own && agent?.allow_trial === true && (
        <p>
          <a href={`/agents/${listing.agent_id}/try`}>Try it first</a>
        </p>
      )}
      {is_active && <Deal listing={listing} action={`/marketplace/${listing.id}`} />}
      <p>
        <a href="/marketplace">All agents for hire</a>
      </p>
    </Layout>,
    wrong?.status ?? 200,
  );
}

export const listingPages: readonly View[] = [
  view({
    path: "/marketplace/{listing_id}",
    title: "An agent for hire",
    show: asOwner((visit) => show(visit)),
    take: (visit) => deal(visit, show),
  }),
];
