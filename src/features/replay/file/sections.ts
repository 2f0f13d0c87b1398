import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import { failureKinds } from "../../../core/cluster/values/failure.ts";
import { dcsResult, documentNaming, documentOutcome } from "./documents.ts";
import { exporterOutcomes } from "./exporters.ts";
import type { Reading } from "./reading.ts";
import { statusResult } from "./reports.ts";
import { type Surroundings, byNode } from "./surroundings.ts";
import { type Drain, extentOf } from "../../../core/cluster/drain.ts";
import { drainFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import { incidentKeys, readFailure, readFields } from "./read-fields.ts";

/** The sections of a step, in the order in which a step is applied. */
export const sectionNames = [
  "nodes",
  "liveness",
  "exporters",
  "companions",
  "views",
  "cluster",
  "config",
  "history",
  "drains",
  "dcs",
] as const;
type SectionName = (typeof sectionNames)[number];

/** Parses one section of a step into the outcomes it represents. */
export function outcomesOf(name: SectionName, section: Reading, context: Surroundings): readonly ProbeOutcome[] {
  const { cluster, sentAtMs } = context;
  switch (name) {
    case "nodes":
      return byNode(section, context).map(([node, value]) => {
        const result = statusResult(node, value, context);
        return { kind: "status", cluster, node, sentAtMs, sentAtWallMs: context.beganWallMs + sentAtMs, result };
      });
    case "liveness":
      return byNode(section, context).map(([node, value]) => ({
        kind: "liveness",
        cluster,
        node,
        sentAtMs,
        isAlive: value.flag(true),
      }));
    case "exporters":
      return byNode(section, context).flatMap(([node, value]) => exporterOutcomes(node, value, context));
    case "companions":
      return byNode(section, context).flatMap(([node, value]) =>
        value.entries().map(([companion, answer]) => {
          const read = answer.oneOf(["answered", ...failureKinds] as const);
          const failure = read === "answered" ? null : { kind: read, detail: read };
          return { kind: "companion", cluster, node, companion, sentAtMs, failure };
        }),
      );
    case "views":
      return byNode(section, context).map(([node, value]) => viewOf(node, value, context));
    case "drains":
      return byNode(section, context).map(([node, value]) => ({
        kind: "drain",
        cluster,
        node,
        drain: recordedDrain(value, context),
      }));
    case "dcs":
      return [{ kind: "dcs", cluster, sentAtMs, result: dcsResult(section) }];
    case "cluster":
    case "config":
    case "history":
      return [documentOutcome(section, context, name)];
  }
}

/** A node's view of the leader: a name, `null` for nobody, or the reason why there is no view. */
function viewOf(node: string, value: Reading, { cluster, sentAtMs }: Surroundings): ProbeOutcome {
  if (value.isText || value.isNull) {
    const served = { status: 200, body: "", source: node, sentAtMs };
    return {
      kind: "document",
      cluster,
      answer: { name: "cluster", served, cluster: documentNaming(value.statement(null)) },
    };
  }
  const failure = readFailure(value.mapping(["failure"])("failure"));
  return { kind: "view_failure", cluster, node, sentAtMs, failure };
}

/** Reads an operator's drain of a node, or `null`, which ends a drain. */
function recordedDrain(section: Reading, { atMs, beganWallMs, repetition }: Surroundings): Drain | null {
  if (section.isNull) return null;
  const value = section.mapping([...incidentKeys(drainFields), "all", "distrust"]);
  const stated = readFields(drainFields, value, { implied: { reason: "drained", by: null }, repetition });
  const untilMs = atMs + stated.untilMs;
  const isoOf = (ms: number): string => new Date(beganWallMs + ms).toISOString();
  return {
    ...stated,
    extent: extentOf({ all: value("all").flag(false), distrust: value("distrust").flag(false) }),
    untilMs,
    since: isoOf(atMs),
    until: isoOf(untilMs),
  };
}
