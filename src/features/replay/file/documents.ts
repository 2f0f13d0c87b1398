import type { ClusterDocument } from "../../../core/cluster/documents/cluster-document.ts";
import { defaultConfig, type StatedConfig } from "../../../core/cluster/documents/dynamic-config.ts";
import type { DcsResult } from "../../../core/cluster/dcs.ts";
import { clusterFields, configFields, dcsFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import type { FieldsOf } from "../../../core/cluster/evidence/fields.ts";
import type { DocumentOutcome } from "../../../core/cluster/outcome.ts";
import type { DocumentAnswer, DocumentName } from "../../../core/cluster/snapshot.ts";
import { incidentKeys, readFailure, readFields } from "./read-fields.ts";
import type { Reading, Repetition } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Which of the documents an answer holds. */
type DocumentContent = Pick<DocumentAnswer, "cluster" | "config" | "history" | "isHistoryPartial">;

/** Reads a document of the cluster: `of` names the node that served it, by default the first. */
export function documentOutcome(
  section: Reading,
  { cluster, nodes, sentAtMs, repetition }: Surroundings,
  name: Exclude<DocumentName, "failsafe">,
): DocumentOutcome {
  const source = section
    .mapping(documentKeys[name])("of")
    .text(nodes[0] ?? "");
  const content: DocumentContent =
    name === "cluster"
      ? readCluster(section)
      : name === "config"
        ? readConfig(section)
        : readHistory(section, repetition);
  return {
    kind: "document",
    cluster,
    answer: { name, served: { status: 200, body: "", source, sentAtMs }, ...content },
  };
}

const documentKeys = {
  cluster: ["of", ...incidentKeys(clusterFields)],
  config: ["of", ...incidentKeys(configFields)],
  history: ["of", "switch_points", "partial"],
} as const;

/** Documents do not advance in a repeated step, but for positions. */
const once: Repetition = { times: 0, passedMs: 0 };

/** A `/cluster` document that names a leader, or `null` for nobody. */
export function documentNaming(leader: string | null): ClusterDocument {
  return {
    scope: null,
    members: [],
    leftOut: [],
    leader,
    leaderApi: null,
    leaderTimeline: null,
    isPartial: false,
    isLeaderUnreadable: false,
  };
}

function readCluster(section: Reading): DocumentContent {
  const implied = documentNaming(null);
  const stated = readFields(clusterFields, section.mapping(documentKeys.cluster), { implied, repetition: once });
  return { cluster: { ...implied, ...stated } };
}

/** A setting that could not be read is `null`: what was known of it before stays. */
function readConfig(section: Reading): DocumentContent {
  const value = section.mapping(documentKeys.config);
  const stated: FieldsOf<StatedConfig> = Object.fromEntries(
    Object.entries(configFields).flatMap(([property, field]): unknown[][] =>
      field.incident === false || value(field.incident[0]).isNull ? [] : [[property, field]],
    ),
  );
  return { config: readFields(stated, value, { implied: defaultConfig, repetition: once }) };
}

function readHistory(section: Reading, repetition: Surroundings["repetition"]): DocumentContent {
  const value = section.mapping(documentKeys.history);
  const points = value("switch_points").entries();
  const isPartial = value("partial").flag(false);
  return {
    history: new Map(points.map(([timeline, at]) => [Number(timeline), at.position(repetition) ?? 0])),
    ...(isPartial ? { isHistoryPartial: true } : {}),
  };
}

/** Reads the result of one read of the DCS. */
export function dcsResult(section: Reading): DcsResult {
  const value = section.mapping(["failure", ...incidentKeys(dcsFields)]);
  if (!value("failure").isAbsent) return { failure: readFailure(value("failure")) };
  const implied = { source: "etcd", revision: 1, hasScope: true };
  return { read: readFields(dcsFields, value, { implied, repetition: once }) };
}
