import type { Route } from "../shared/http/route.ts";
import { accountMail } from "./account-mail.ts";
import { account } from "./account.ts";
import { agents } from "./agents.ts";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { board } from "./board.ts";
import { codehost } from "./codehost.ts";
import { cspReports } from "./csp-reports.ts";
import { evidence } from "./evidence.ts";
import { health } from "./health.ts";
import { openapi } from "./openapi.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import { agentPage } from "./site/agent.tsx";
import { boardPage } from "./site/board.tsx";
import { tasks } from "./tasks.ts";
import { wellKnown } from "./well-known.ts";

const described = [
  auth,
  account,
  accountMail,
  codehost,
  apiKeys,
  agents,
  tasks,
  runs,
  sessions,
  board,
  evidence,
  wellKnown,
  health,
  cspReports,
  boardPage,
  agentPage,
].flat();

/** Every endpoint there is. */
export const ROUTES: readonly Route[] = [...described, ...openapi(described)];
