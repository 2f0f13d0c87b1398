import type { ClusterDocument } from "../../cluster/documents/cluster-document.ts";
import type { DcsResult } from "../../cluster/dcs.ts";
import type { DocumentOutcome } from "../../cluster/outcome.ts";
import type { DocumentAnswer, DocumentName } from "../../cluster/snapshot.ts";
import { failureKinds } from "../../cluster/values/failure.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Which of the documents an answer holds. */
type DocumentContent = Pick<DocumentAnswer, "cluster" | "config" | "history">;

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
  cluster: ["of", "leader", "timeline", "scope"],
  config: ["of", "ttl", "loop_wait", "retry_timeout", "maximum_lag_on_failover", "standby_cluster"],
  history: ["of", "switch_points"],
} as const;

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
  const value = section.mapping(documentKeys.cluster);
  const leaderTimeline = value("timeline").isAbsent ? null : value("timeline").count(0);
  const scope = value("scope").statement(null);
  return { cluster: { ...documentNaming(value("leader").statement(null)), scope, leaderTimeline } };
}

function readConfig(section: Reading): DocumentContent {
  const value = section.mapping(documentKeys.config);
  return {
    config: {
      ttlMs: value("ttl").seconds(30),
      loopWaitMs: value("loop_wait").seconds(10),
      retryTimeoutMs: value("retry_timeout").seconds(10),
      lagMaxOnFailover: value("maximum_lag_on_failover").count(1_048_576),
      isStandbyCluster: value("standby_cluster").flag(false),
    },
  };
}

function readHistory(section: Reading, repetition: Surroundings["repetition"]): DocumentContent {
  const points = section.mapping(documentKeys.history)("switch_points").entries();
  return { history: new Map(points.map(([timeline, at]) => [Number(timeline), at.position(repetition) ?? 0])) };
}

/** Reads the result of one read of the DCS. */
export function dcsResult(section: Reading): DcsResult {
  const value = section.mapping(["failure", "leader", "revision", "source", "empty"]);
  if (!value("failure").isAbsent) {
    const kind = value("failure").oneOf(failureKinds);
    return { failure: { kind, detail: kind } };
  }
  const [leader, source] = [value("leader").statement(null), value("source").text("etcd")];
  return { read: { leader, source, revision: value("revision").count(1), hasScope: !value("empty").flag(false) } };
}
