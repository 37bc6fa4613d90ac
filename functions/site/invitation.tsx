import * as z from "zod";
import { TeamRead } from "../../shared/teams/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { attempt, Form, Refused, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

function Invitation({ token, wrong }: { token: string; wrong?: Wrong }) {
  return (
    <Layout title="Join a workspace" own="">
      <h1>Join a workspace</h1>
      <Refused wrong={wrong} labels={{}} />
      {wrong === undefined ? (
        <Form action="/accept-invitation" button="Join the workspace">
          <input type="hidden" name="token" value={token} />
          <p>Its members see what you do in it. You can leave it at any time.</p>
        </Form>
      ) : (
        <p>
          An invitation works within 7 days, for the account with the address that it was mailed to. If that is another
          account of yours, sign out and follow the link again; else ask for a new invitation.
        </p>
      )}
    </Layout>
  );
}

async function accept({ c, form, api }: Visit): Promise<Response> {
  const token = form.get("token") ?? "";
  const team = await attempt([], async () =>
    TeamRead.parse(await api.send("POST", "/api/v1/teams/invitations/accept", { token })),
  );
  if (team instanceof Wrong) return personal(c, <Invitation token={token} wrong={team} />, team.status);
  return personal(
    c,
    <Layout title="Joined" own="">
      <h1>Welcome to {team.name}</h1>
      <Notice kind="good" alert>
        <p>You are a member, with the role {team.role}.</p>
      </Notice>
      <p>
        <a class="button" href="/home">
          Go to your agents
        </a>
      </p>
    </Layout>,
  );
}

export const invitationPages: readonly View[] = [
  view({
    path: "/accept-invitation",
    title: "Join a workspace",
    async show({ c, api, query }) {
      await api.read("/api/v1/auth/me", z.unknown());
      return personal(c, <Invitation token={query.get("token") ?? ""} />);
    },
    take: accept,
  }),
];
