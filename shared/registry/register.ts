import type * as z from "zod";
import { placeAgent } from "../agents/create.ts";
import { checkInput } from "../agents/insert.ts";
import type { AgentCreate } from "../agents/schemas.ts";
import type { AgentRow } from "../agents/view.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { discover } from "./discover.ts";

/**
 * Makes an agent of the caller's out of the manifest that the host of a URL serves. Throws `manifest_invalid`,
 * `endpoint_not_allowed` for the URL itself, `duplicate_name`, `quota_exceeded`, `ResolverFault`.
 */
export async function registerAgent(ctx: Context, principal: SessionPrincipal, url: string): Promise<AgentRow> {
  return placeAgent(ctx, principal, async () => ({
    ...(await checkInput(ctx, await inputFrom(ctx, url))),
    registry_status: "registered",
  }));
}

/** What the manifest that the host of a URL serves says of its agent. */
async function inputFrom(ctx: Context, url: string): Promise<z.output<typeof AgentCreate>> {
  const { manifest, manifest_url, errors } = await discover(ctx, url);
  if (manifest === null) {
    throw new Problem("manifest_invalid", errors.map(({ message }) => message).join(" "), {
      errors: errors.map(({ pointer, code, message }) => ({
        in: "body",
        pointer: "/url",
        code,
        message: pointer === "" ? message : `${pointer} of ${manifest_url}: ${message}`,
      })),
    });
  }
  const { version, declared_configuration: declared, ...fields } = manifest;
  const declared_configuration = version === undefined ? declared : { version, ...declared };
  return { ...fields, manifest_url, declared_configuration };
}
