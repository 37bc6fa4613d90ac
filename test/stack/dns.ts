import { createFaults, type Faults } from "./faults.ts";
import { json, listen, type Handler, type Reply } from "./http.ts";

/** A record type that the resolver serves. */
export type RecordType = "A" | "AAAA" | "CNAME" | "TXT";

/** The records of one name: addresses, texts, or the name that it stands for. */
export type Records = Readonly<Partial<Record<RecordType, readonly string[]>>>;

/** Records by name, in lower case without a final dot. */
export type Zone = Readonly<Record<string, Records>>;

/** A running resolver. */
export interface DnsResolver {
  /** To ask by `GET {url}?name=&type=`. */
  readonly url: string;
  /** Replaces all names but `localhost`. */
  setZone(zone: Zone): void;
  stop(): Promise<void>;
}

interface AnswerRecord {
  readonly name: string;
  readonly type: number;
  readonly TTL: number;
  readonly data: string;
}

// The numbers on the wire, of RFC 1035 and RFC 3596.
const CNAME = 5;
const TYPES: ReadonlyMap<string, number> = new Map([
  ["A", 1],
  ["CNAME", CNAME],
  ["TXT", 16],
  ["AAAA", 28],
] satisfies [RecordType, number][]);
const UNKNOWN = -1;
const NOERROR = 0;
const NXDOMAIN = 3;
const TTL_S = 60;
const MAX_ALIASES = 8;
const LOCALHOST: Zone = { localhost: { A: ["127.0.0.1"], AAAA: ["::1"] } };

/**
 * A DNS-over-HTTPS resolver of the JSON form that public resolvers serve, see
 * https://developers.google.com/speed/public-dns/docs/doh/json. It knows `localhost` and the zone, follows aliases
 * within them, and answers NXDOMAIN for any other name; it never asks anyone else. Faults of the service "resolver" apply
 * to it; a truncated answer is one that says so of itself, as over UDP.
 */
export async function startDnsResolver(
  options: { port?: number; zone?: Zone; faults?: Faults } = {},
): Promise<DnsResolver> {
  const { faults = createFaults() } = options;
  let zone: Zone = { ...options.zone, ...LOCALHOST };

  const handler: Handler = ({ method, url }) => {
    if (method !== "GET") return { status: 405, headers: { allow: "GET" } };
    const name = canonical(url.searchParams.get("name") ?? "");
    const type = typeNumber(url.searchParams.get("type") ?? "A");
    if (name === "" || type === undefined) return json(400, { error: "name or type is missing or malformed" });
    const Answer = resolve(zone, name, type);
    return json(
      200,
      {
        Status: Answer === undefined ? NXDOMAIN : NOERROR,
        TC: false,
        RD: true,
        RA: true,
        AD: false,
        CD: false,
        Question: [{ name, type }],
        ...(Answer !== undefined && Answer.length > 0 && { Answer }),
      },
      { "content-type": "application/dns-json" },
    );
  };

  const server = await listen(faults.around("resolver", handler, truncated), options.port);
  return {
    url: `${server.url}/dns-query`,
    setZone(next) {
      zone = { ...next, ...LOCALHOST };
    },
    stop: () => server.close(),
  };
}

function truncated(reply: Reply): Reply {
  if (reply.status !== 200) return reply;
  const answer = JSON.parse(String(reply.body)) as { Answer?: AnswerRecord[] };
  const Answer = answer.Answer?.slice(0, Math.floor(answer.Answer.length / 2));
  return { ...reply, body: JSON.stringify({ ...answer, TC: true, Answer }) };
}

// The records of a name, the aliases on the way included; undefined when the name itself does not exist.
function resolve(zone: Zone, name: string, type: number, aliases = 0): AnswerRecord[] | undefined {
  if (!Object.hasOwn(zone, name)) return undefined;
  const records = Object.entries(zone[name] ?? {}).flatMap(([kind, values]) =>
    values.map((data) => ({ name, type: TYPES.get(kind) ?? 0, TTL: TTL_S, data })),
  );
  const alias = records.find((record) => record.type === CNAME);
  if (alias !== undefined && type !== CNAME && aliases < MAX_ALIASES) {
    return [alias, ...(resolve(zone, canonical(alias.data), type, aliases + 1) ?? [])];
  }
  return records.filter((record) => record.type === type);
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

// A type by its name or its number; undefined when it is neither. Types not served have no records.
function typeNumber(text: string): number | undefined {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  const name = text.toUpperCase();
  return TYPES.get(name) ?? (/^[A-Z][A-Z0-9]*$/.test(name) ? UNKNOWN : undefined);
}
