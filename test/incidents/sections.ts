import type { ClusterDocument } from "../../src/cluster/documents/cluster-document.ts";
import { failureKinds, type Failure } from "../../src/cluster/values/failure.ts";
import { ordinaryReport } from "../../src/cluster/incident/incident.ts";
import type { ProbeOutcome } from "../../src/cluster/outcome.ts";
import type { Report, Sender } from "../../src/cluster/documents/report.ts";
import type { DocumentAnswer, DocumentName } from "../../src/cluster/snapshot.ts";
import { isSet, parseTags } from "../../src/cluster/values/tags.ts";
import { drainOf } from "./drains.ts";
import { exporterOutcomes } from "./exporters.ts";
import type { Reading, Repetition } from "./reading.ts";
import { byNode, type Surroundings } from "./surroundings.ts";

export const sectionNames = [
  "nodes",
  "liveness",
  "exporters",
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
      return byNode(section, context).map(([node, said]) => {
        const result = statusResult(node, said, context);
        return { kind: "status", cluster, node, sentAtMs, sentAtWallMs: sentAtMs, result };
      });
    case "liveness":
      return byNode(section, context).map(([node, said]) => ({
        kind: "liveness",
        cluster,
        node,
        sentAtMs,
        isAlive: said.flag(true),
      }));
    case "exporters":
      return byNode(section, context).flatMap(([node, said]) => exporterOutcomes(node, said, context));
    case "views":
      return byNode(section, context).map(([node, said]) => viewOf(node, said, context));
    case "drains":
      return byNode(section, context).map(([node, said]) => ({
        kind: "drain",
        cluster,
        node,
        drain: drainOf(said, context),
      }));
    case "dcs": {
      const said = section.mapping(["failure", "leader", "revision", "source", "empty"]);
      if (!said("failure").isAbsent) {
        const kind = said("failure").oneOf(failureKinds);
        return [{ kind: "dcs", cluster, sentAtMs, result: { failure: { kind, detail: kind } } }];
      }
      const leader = said("leader").statement(null);
      const source = said("source").text("etcd");
      const read = { leader, source, revision: said("revision").count(1), hasScope: !said("empty").flag(false) };
      return [{ kind: "dcs", cluster, sentAtMs, result: { read } }];
    }
    case "cluster": {
      const said = section.mapping(["of", "leader", "timeline", "scope"]);
      const leader = said("leader").statement(null);
      const leaderTimeline = said("timeline").isAbsent ? null : said("timeline").count(0);
      return [
        document("cluster", said("of"), context, {
          cluster: { ...documentNaming(leader), scope: said("scope").statement(null), leaderTimeline },
        }),
      ];
    }
    case "config": {
      const said = section.mapping([
        "of",
        "ttl",
        "loop_wait",
        "retry_timeout",
        "maximum_lag_on_failover",
        "standby_cluster",
      ]);
      const config = {
        ttlMs: said("ttl").seconds(30),
        loopWaitMs: said("loop_wait").seconds(10),
        retryTimeoutMs: said("retry_timeout").seconds(10),
        lagMaxOnFailover: said("maximum_lag_on_failover").count(1_048_576),
        isStandbyCluster: said("standby_cluster").flag(false),
      };
      return [document("config", said("of"), context, { config })];
    }
    case "history": {
      const said = section.mapping(["of", "switch_points"]);
      const points = said("switch_points")
        .entries()
        .map(([timeline, at]) => [Number(timeline), at.position(context.repetition) ?? 0] as const);
      return [document("history", said("of"), context, { history: new Map(points) })];
    }
  }
}

/** A node's view of the leader: a name, `null` for nobody, or the reason why there is no view. */
function viewOf(node: string, said: Reading, { cluster, sentAtMs }: Surroundings): ProbeOutcome {
  if (said.isText || said.isNull) {
    const served = { status: 200, body: "", source: node, sentAtMs };
    return {
      kind: "document",
      cluster,
      answer: { name: "cluster", served, cluster: documentNaming(said.statement(null)) },
    };
  }
  const kind = said.mapping(["failure"])("failure").oneOf(failureKinds);
  return { kind: "view_failure", cluster, node, sentAtMs, failure: { kind, detail: kind } };
}

function documentNaming(leader: string | null): ClusterDocument {
  return { scope: null, members: [], leader, leaderApi: null, leaderTimeline: null };
}

function document(
  name: DocumentName,
  of: Reading,
  { cluster, nodes, sentAtMs }: Surroundings,
  read: Pick<DocumentAnswer, "cluster" | "config" | "history">,
): ProbeOutcome {
  const source = of.text(nodes[0] ?? "");
  return { kind: "document", cluster, answer: { name, served: { status: 200, body: "", source, sentAtMs }, ...read } };
}

const reportKeys = [
  "failure",
  "lock",
  "role",
  "state",
  "timeline",
  "position",
  "location",
  "received",
  "replayed",
  "replication_state",
  "senders",
  "sync_standby",
  "quorum_standby",
  "failsafe",
  "pause",
  "tags",
  "system",
  "scope",
  "name",
  "version",
];

type Result = { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };

function statusResult(node: string, section: Reading, { of, repetition }: Surroundings): Result {
  const said = section.mapping(reportKeys);
  if (!said("failure").isAbsent) {
    section.mapping(["failure"]);
    const kind = said("failure").oneOf(failureKinds);
    return { failure: { kind, detail: kind } };
  }
  const hasLock = said("lock").flag(false);
  const ordinary = ordinaryReport(node, hasLock, of);
  const role = said("role").text(ordinary.role);
  const tags = said("tags").isAbsent ? ordinary.tags : parseTags(said("tags").raw());
  const report: Report = {
    ...ordinary,
    role,
    state: said("state").text(ordinary.state),
    timeline: said("timeline").isNull ? null : said("timeline").count(ordinary.timeline ?? 0),
    ...positionsOf(said, role, repetition),
    replicationState: said("replication_state").statement(ordinary.replicationState),
    senders: said("senders").isAbsent ? [] : said("senders").list().map(senderOf),
    isSyncStandby: said("sync_standby").flag(false),
    isQuorumStandby: said("quorum_standby").flag(false),
    isFailsafe: said("failsafe").flag(false),
    isPaused: said("pause").flag(false),
    tags,
    isNoLoadBalance: isSet(tags, "noloadbalance"),
    system: said("system").statement(ordinary.system),
    scope: said("scope").statement(ordinary.scope),
    name: said("name").statement(ordinary.name),
    version: said("version").statement(ordinary.version),
  };
  return { report, hasLock };
}

/**
 * `position` is short for the positions that a node of this kind reports: a primary's location, or a replica's received
 * and replayed positions, both equal.
 */
function positionsOf(
  said: (key: string) => Reading,
  role: string,
  repetition: Repetition,
): Pick<Report, "location" | "received" | "replayed"> {
  const position = said("position").position(repetition);
  const isPrimary = role === "primary";
  return {
    location: said("location").position(repetition) ?? (isPrimary ? position : null),
    received: said("received").position(repetition) ?? (isPrimary ? null : position),
    replayed: said("replayed").position(repetition) ?? (isPrimary ? null : position),
  };
}

function senderOf(section: Reading): Sender {
  if (section.isText) return { name: section.text(), address: null, state: "streaming" };
  const said = section.mapping(["name", "address", "state"]);
  return {
    name: said("name").text(),
    address: said("address").statement(null),
    state: said("state").statement("streaming"),
  };
}
