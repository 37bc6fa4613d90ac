import type { Route } from "./route.ts";

interface Header {
  description: string;
  schema: { type: "string" | "integer"; examples: (string | number)[] };
}

const text = (description: string, example: string): Header => ({
  description,
  schema: { type: "string", examples: [example] },
});

/** The headers of answers that callers go by. */
export const HEADERS: Readonly<Record<string, Header>> = {
  "X-Request-Id": text(
    "Names the request, in our log too; the caller's own where it sent one",
    "0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12",
  ),
  RateLimit: text("What is left: `r` requests, anew in `t` seconds", '"minute";r=59;t=60'),
  "RateLimit-Policy": text("What holds: `q` requests in `w` seconds", '"minute";q=60;w=60'),
  "Retry-After": {
    description: "In how many seconds to send it again",
    schema: { type: "integer", examples: [5] },
  },
  "WWW-Authenticate": text("How to show who calls", "Bearer"),
  Location: text(
    "The address of what was made; of a redirect, where it leads",
    "/api/v1/runs/0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12",
  ),
  Link: text(
    "The pages around this one (RFC 8288): `first`, `prev`, `next`, `last`",
    '</api/v1/runs?page=2>; rel="next"',
  ),
  ETag: text("Names this version of the answer; send it as `If-None-Match`", 'W/"3f2a9c"'),
  "Cache-Control": text("Whether and how long the answer may be kept", "no-cache"),
  "Idempotency-Replayed": text("`true` where this is the result of an earlier request with the same key", "true"),
};

/** The headers of one answer of a route, as references to the components; what a route's handler adds goes by `paged`. */
export function headersOf(
  route: Route,
  status: number,
  { paged }: { paged: boolean },
): Record<string, { $ref: string }> {
  const success = status < 300;
  const reads = route.method === "get";
  const names = [
    "X-Request-Id",
    ...(route.limit === null ? [] : ["RateLimit", "RateLimit-Policy"]),
    ...(status === 401 ? ["WWW-Authenticate"] : []),
    ...(status === 429 || status === 503 ? ["Retry-After"] : []),
    ...(isLocated(route, status) ? ["Location"] : []),
    ...((success || status === 304) && reads ? ["Cache-Control"] : []),
    ...((status === 200 || status === 304) && reads && route.streamed !== true ? ["ETag"] : []),
    ...(success && paged ? ["Link"] : []),
    ...(route.idempotent === true && isKept(status) ? ["Idempotency-Replayed"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function isLocated({ located }: Route, status: number): boolean {
  return status === 201 || status === 202 ? located === true : status === 302 || status === 303;
}

/** Whether an answer may be that of an earlier request with the same key: refusals come again, too, if not for their form. */
function isKept(status: number): boolean {
  return status < 500 && ![400, 405, 413, 415, 429].includes(status);
}
