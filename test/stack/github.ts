import { createHash, randomBytes } from "node:crypto";
import { bearer, type Handler, json, listen, type Reply, type Request } from "./http.ts";

/** A user of the code host. */
export interface GitHubUser {
  id: number;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

/** Parts of the code host that can be made to fail. */
export type GitHubPart = "token" | "user" | "emails";

/** A running code host. */
export interface GitHub {
  readonly url: string;
  /** Who is signed in at the code host, and allows what is asked; null for somebody who refuses. */
  signIn(user: GitHubUser | null): void;
  /** Makes one part answer 500 from now on; null mends it. */
  breakPart(part: GitHubPart | null): void;
  close(): Promise<void>;
}

interface Grant {
  user: GitHubUser;
  challenge: string;
  redirectUri: string;
}

/** How long a list is, and how long it may be. https://docs.github.com/rest/users/emails, "per_page" */
const PAGE = 30;
const MOST_OF_PAGE = 100;

/**
 * The part of GitHub that signs users in: the OAuth web flow with PKCE
 * (https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps), and the API's `/user` and
 * `/user/emails`. A code works once, for its client, redirect URI and verifier; a failed exchange answers 200, as GitHub does.
 */
export async function startGitHub(app: { clientId: string; clientSecret: string }): Promise<GitHub> {
  let current: GitHubUser | null = null;
  let broken: GitHubPart | null = null;
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, GitHubUser>();

  function authorize({ url: { searchParams: query } }: Request): Reply {
    const target = new URL(query.get("redirect_uri") ?? "");
    target.searchParams.set("state", query.get("state") ?? "");
    const challenge = query.get("code_challenge");
    if (query.get("client_id") !== app.clientId) return json(404, { message: "Not Found" });
    if (challenge === null || query.get("code_challenge_method") !== "S256") return json(400, { message: "no PKCE" });
    if (current === null || query.get("scope") !== "user:email") {
      target.searchParams.set("error", "access_denied");
    } else {
      const code = randomBytes(10).toString("hex");
      grants.set(code, { user: current, challenge, redirectUri: query.get("redirect_uri") ?? "" });
      target.searchParams.set("code", code);
    }
    return { status: 302, headers: { location: target.href } };
  }

  function exchange({ body, headers }: Request): Reply {
    if (broken === "token") return json(500, {});
    const form = new URLSearchParams(body.toString());
    const code = form.get("code") ?? "";
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const known = form.get("client_id") === app.clientId && form.get("client_secret") === app.clientSecret;
    if (!known) return json(200, { error: "incorrect_client_credentials" });
    if (grant === undefined || grant.challenge !== challenge || grant.redirectUri !== form.get("redirect_uri"))
      return json(200, { error: "bad_verification_code" });
    if (headers.accept?.includes("application/json") !== true) return json(406, {});
    const token = `gho_${randomBytes(18).toString("hex")}`;
    tokens.set(token, grant.user);
    return json(200, { access_token: token, token_type: "bearer", scope: "user:email" });
  }

  function api(part: "user" | "emails", show: (user: GitHubUser, query: URLSearchParams) => unknown): Handler {
    return ({ headers, url }) => {
      if (broken === part) return json(500, {});
      const user = tokens.get(bearer(headers) ?? "");
      if (user === undefined) return json(401, { message: "Bad credentials" });
      return headers["user-agent"] === undefined ? json(403, {}) : json(200, show(user, url.searchParams));
    };
  }

  const routes: Record<string, Handler> = {
    "GET /login/oauth/authorize": authorize,
    "POST /login/oauth/access_token": exchange,
    "GET /api/v3/user": api("user", ({ id }) => ({ id, login: `user${id}` })),
    "GET /api/v3/user/emails": api("emails", ({ emails }, query) =>
      emails.slice(0, Math.min(MOST_OF_PAGE, Number(query.get("per_page") ?? PAGE))),
    ),
  };
  const { url, close } = await listen(
    (request) => routes[`${request.method} ${request.url.pathname}`]?.(request) ?? json(404, { message: "Not Found" }),
  );
  return {
    url,
    signIn: (user) => void (current = user),
    breakPart: (part) => void (broken = part),
    close,
  };
}
