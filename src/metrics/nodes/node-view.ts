import { isObject, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { isFresh } from "../../health/evidence/freshness.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { viewAt, type ClusterView } from "../../health/evidence/cluster-view.ts";
import { summarize, type Summary } from "../../health/explain/summary.ts";
import { labelsText } from "../../exposition/writer.ts";

/** One node as a scrape shows it. */
export interface NodeSeries {
  readonly view: ClusterView;
  readonly observation: Observation;
  readonly summary: Summary;
  /** `cluster="demo",node="pg1"`. */
  readonly labels: string;
  /** The labels of a node's own metrics, `scope` and `name`, with ours beside them: two clusters may share a scope. */
  readonly managerLabels: string;
  /** What the node said, while it may be believed; `null` for a node that is down or has gone stale. */
  readonly document: JsonObject | null;
  /** What the node said last, however long ago. */
  readonly lastDocument: JsonObject | null;
  readonly cluster: ClusterSeries;
}

/** What the documents of a cluster say that its nodes do not. */
export interface ClusterSeries {
  readonly isFailsafeEnabled: boolean | null;
  /** Names of the members of failsafe; `null` where it is not known. */
  readonly failsafeMembers: ReadonlySet<string> | null;
}

/** What nodes are seen by. */
export interface SeriesSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
}

/** Every node of every cluster, of one snapshot and one instant. Each is made when it is asked for, so that a scrape can pause between them. */
export function* nodeSeries({ snapshot, policy, now }: SeriesSources): Generator<NodeSeries> {
  const { clusters } = snapshot();
  const nowMs = now();
  for (const state of clusters) {
    const settled = policy(state.name);
    if (settled === undefined) continue;
    const view = viewAt(state, settled, nowMs);
    const cluster = viewCluster(state);
    for (const observation of state.nodes) yield viewNode(view, observation, cluster);
  }
}

function viewNode(view: ClusterView, observation: Observation, cluster: ClusterSeries): NodeSeries {
  const { report, node } = observation;
  const isBelieved = report !== null && !observation.isDown && isFresh(observation, view.maxAgeMs, view.nowMs);
  const document = report === null ? null : parseJson(report.document);
  const lastDocument = isObject(document) ? document : null;
  const ours = { cluster: view.cluster.name, node: node.name };
  return {
    view,
    observation,
    summary: summarize(view, observation),
    labels: labelsText(ours),
    managerLabels: labelsText({
      scope: report?.scope ?? view.cluster.scope ?? view.cluster.name,
      name: report?.name ?? node.member,
      ...ours,
    }),
    document: isBelieved ? lastDocument : null,
    lastDocument,
    cluster,
  };
}

function viewCluster({ documents }: ClusterState): ClusterSeries {
  const { config, failsafe } = documents;
  const configured = config === null || config.status !== 200 ? undefined : parseJson(config.body);
  const members = failsafe === null ? undefined : failsafe.status === 200 ? parseJson(failsafe.body) : {};
  return {
    isFailsafeEnabled: isObject(configured) ? configured["failsafe_mode"] === true : null,
    failsafeMembers: isObject(members) ? new Set(Object.keys(members)) : null,
  };
}
