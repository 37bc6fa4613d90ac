import { noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ApiKeyIssued } from "../../shared/identity/api-keys/schemas.ts";
import { beginDevice } from "../../shared/identity/device/begin.ts";
import { decideDevice } from "../../shared/identity/device/decide.ts";
import { readDevice } from "../../shared/identity/device/read.ts";
import { redeemDevice } from "../../shared/identity/device/redeem.ts";
import {
  DeviceAsking,
  DeviceCodes,
  DeviceDecision,
  DeviceQuery,
  DeviceRequest,
  DeviceTokenRequest,
} from "../../shared/identity/device/schemas.ts";
import { userAgentOf } from "./token-response.ts";

const path = "/api/v1/auth/device";
const tag = "Keys";

export const device = [
  route({
    id: "beginDevice",
    method: "post",
    path,
    tag,
    summary: "Ask for an API key as a program",
    description:
      "For programs without a browser, after RFC 8628: show the person `verification_uri` and `user_code`, and send " +
      "`device_code` to POST /api/v1/auth/device/token every `interval` seconds until it answers with the key or a final " +
      "problem. Both codes are stored hashed and hold for ten minutes.",
    auth: "none",
    limit: "auth",
    body: DeviceRequest,
    returns: { 200: DeviceCodes },
    async handler({ ctx, body, c }) {
      return ok(await beginDevice(ctx, body, userAgentOf(c)));
    },
  }),
  route({
    id: "readDevice",
    method: "get",
    path,
    tag,
    summary: "What asks for a key with a code",
    description:
      "For the page where somebody decides. The name is what the program says of itself; whether it asks from the same " +
      "network is known to the service. 404 for a code that is unknown, over, or was decided on.",
    auth: "session",
    limit: "auth",
    query: DeviceQuery,
    returns: { 200: DeviceAsking },
    problems: ["not_found"],
    async handler({ ctx, query }) {
      return ok(await readDevice(ctx, query.user_code));
    },
  }),
  route({
    id: "decideDevice",
    method: "post",
    path: `${path}/decision`,
    tag,
    summary: "Let a program have an API key, or refuse it",
    description:
      "The first decision on a code holds; saying the same again changes nothing. The key, of scope write, is made when the " +
      "program fetches it; if the session of this decision has ended by then, it is not. Allow nothing but a program that " +
      "you have started yourself: whoever has its device code gets the key.",
    auth: "session",
    limit: "auth",
    body: DeviceDecision,
    returns: { 204: null },
    problems: ["not_found"],
    async handler({ ctx, principal, body }) {
      await decideDevice(ctx, principal, body);
      return noContent();
    },
  }),
  route({
    id: "redeemDevice",
    method: "post",
    path: `${path}/token`,
    tag,
    summary: "Fetch the API key that was asked for",
    description:
      "`authorization_pending` until somebody decides, `slow_down` when asked more often than `interval` says, which makes " +
      "the interval five seconds longer. Final are `access_denied`, `expired_token`, and `invalid_token` for a code that is " +
      "unknown or was used. The key is made by the first request after the decision and shown in that answer alone, under " +
      "`client_name`, with a number behind it where the account has a key of that name; its limits are those of a new key.",
    auth: "none",
    body: DeviceTokenRequest,
    returns: { 200: ApiKeyIssued },
    problems: [
      "authorization_pending",
      "slow_down",
      "access_denied",
      "expired_token",
      "invalid_token",
      "quota_exceeded",
    ],
    async handler({ ctx, body }) {
      return ok(await redeemDevice(ctx, body.device_code));
    },
  }),
];
