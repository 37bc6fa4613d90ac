import type { ReportedUsage } from "../scoring/cost.ts";
import { type Architecture, architectureHash, architectureOf, versionOf } from "../telemetry/architecture.ts";
import type { Collected, Placement } from "../telemetry/collect.ts";
import { readTrace, type Span } from "../telemetry/trace.ts";
import type { Answered } from "./load-answered.ts";

/** What a run's telemetry tells. Its own hash can be attested; the version it belongs to is made of other runs too. */
export interface Observation {
  spans: number;
  /** The model calls as an agent reports them; null where none was seen. */
  usage: ReportedUsage | null;
  /** Null without telemetry. */
  toolCalls: number | null;
  /** Of what this run showed; null where that is nothing. */
  architectureHash: string | null;
  placement: Placement | null;
}

/** Reads the telemetry of a run. Pure, and total on any spans. */
export function observe({ run, telemetry: { spans, versions } }: Answered): Observation {
  const trace = readTrace(run.id, spans);
  const shown = architectureOf(trace);
  return {
    spans: spans.length,
    usage: trace.modelCalls.length === 0 ? null : { calls: trace.modelCalls.map(toCall) },
    toolCalls: spans.length === 0 ? null : trace.toolCalls.length,
    architectureHash: shown === null ? null : architectureHash(shown),
    placement: shown === null ? null : place(shown, versions),
  };
}

function place(shown: Architecture, versions: Collected["versions"]): Placement {
  const architecture = versionOf(shown, versions);
  const hash = architectureHash(architecture);
  return {
    architecture,
    hash,
    isNew: versions.every((known) => known.hash !== hash),
    latest: versions[0]?.number ?? 0,
  };
}

function toCall({ model, input_tokens, output_tokens, cost_usd }: Span): NonNullable<ReportedUsage["calls"]>[number] {
  return Object.fromEntries(
    Object.entries({ model, input_tokens, output_tokens, cost_usd }).filter(([, value]) => value !== null),
  );
}
