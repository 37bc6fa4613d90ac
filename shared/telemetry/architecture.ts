import { canonicalBytes } from "../platform/canonical.ts";
import { sha256 } from "../platform/crypto.ts";
import { type Edge, nodeName, type Trace } from "./trace.ts";

/** What an agent is made of, in canonical form: each list sorted by UTF-16 code units, without repetition. */
export interface Architecture {
  /** `provider/model`, or the model alone where its provider is not known. */
  models: readonly string[];
  tools: readonly string[];
  edges: readonly Edge[];
}

/** More than this is noise, such as a name for each call: it would grow each version without bound. */
const MAX_NAMES = 256;
const MAX_EDGES = 1024;
/**
 * How many characters (UTF-16) the names and edges of one may have in all. Twenty versions are read with each run that is
 * scored, beside its spans and its answer: were they as large as an agent likes, the database could not answer any more, and
 * a run that goes badly would end as our fault.
 */
const MAX_CHARACTERS = 24 * 1024;

/**
 * What a run shows of its agent's architecture; null where its spans name nothing, or over 256 models or tools, 1,024
 * edges, or 24,576 characters. Order, times, tokens, failures, the ids of spans and how often something was called make no
 * difference.
 */
export function architectureOf({ modelCalls, toolCalls, edges }: Trace): Architecture | null {
  const names = (calls: Trace["modelCalls"]) => calls.map(nodeName).filter((name) => name !== null);
  const shown = canonical({ models: names(modelCalls), tools: names(toolCalls), edges });
  const isEmpty = shown.models.length + shown.tools.length + shown.edges.length === 0;
  return isEmpty || !fits(shown) ? null : shown;
}

/** SHA-256 over the RFC 8785 form of an architecture, in lower-case hex. */
export function architectureHash({ models, tools, edges }: Architecture): string {
  return sha256(canonicalBytes({ models, tools, edges }));
}

/**
 * The version that a run belongs to, given what it showed and the versions so far, newest first. A run uses only a part
 * of its agent, so what it leaves out proves nothing: it continues the newest version whose models are all among its
 * own, or the other way round, and adds to it what is new. It starts a version of its own where no version fits: a model
 * was replaced, and what was seen of the old one says nothing about the new.
 */
export function versionOf(shown: Architecture, versions: readonly Architecture[]): Architecture {
  const continued = versions.find(
    ({ models }) => containsAll(models, shown.models) || containsAll(shown.models, models),
  );
  if (continued === undefined) return shown;
  const grown = canonical({
    models: [...continued.models, ...shown.models],
    tools: [...continued.tools, ...shown.tools],
    edges: [...continued.edges, ...shown.edges],
  });
  return fits(grown) ? grown : shown;
}

/** What came and what went between two versions; everything came with the first. */
export function architectureChanges(
  before: Pick<Architecture, "models" | "tools"> | null,
  after: Pick<Architecture, "models" | "tools">,
) {
  const [models, tools] = [before?.models ?? [], before?.tools ?? []];
  return {
    models_added: missing(after.models, models),
    models_removed: missing(models, after.models),
    tools_added: missing(after.tools, tools),
    tools_removed: missing(tools, after.tools),
  };
}

function canonical({ models, tools, edges }: Architecture): Architecture {
  const byKey = new Map(edges.map((edge) => [JSON.stringify(edge), edge]));
  return {
    models: [...new Set(models)].toSorted(),
    tools: [...new Set(tools)].toSorted(),
    edges: [...byKey.values()].toSorted(([from, to], [otherFrom, otherTo]) => {
      return compare(from, otherFrom) || compare(to, otherTo);
    }),
  };
}

function fits({ models, tools, edges }: Architecture): boolean {
  if (models.length > MAX_NAMES || tools.length > MAX_NAMES || edges.length > MAX_EDGES) return false;
  const characters = [models, tools, ...edges].flat().reduce((sum, name) => sum + name.length, 0);
  return characters <= MAX_CHARACTERS;
}

function missing(names: readonly string[], from: readonly string[]): string[] {
  const known = new Set(from);
  return names.filter((name) => !known.has(name));
}

function containsAll(names: readonly string[], others: readonly string[]): boolean {
  return missing(others, names).length === 0;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
