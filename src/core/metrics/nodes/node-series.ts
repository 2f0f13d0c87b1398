import { isObject, type JsonObject, parseJson } from "../../cluster/values/json.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { isHeard } from "../../health/evidence/node/freshness.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { viewAt, type ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { summarize, type Summary } from "../../health/rules/summary.ts";
import { labelsText } from "../../exposition/writer.ts";

/** What the metrics of one node are made from. */
export interface NodeSeries {
  /** The node's cluster at the instant of the scrape. */
  readonly view: ClusterView;
  readonly observation: Observation;
  readonly summary: Summary;
  /**
   * Whether what is known of the node describes the present: it is heard, or fit on its exporter alone. Only then it has
   * samples of its state.
   */
  readonly isPresent: boolean;
  /** `cluster="demo",node="pg1"`. */
  readonly labels: string;
  /**
   * The labels of the metrics that nodes export themselves: `scope` and `name`, and also rolecall's `cluster` and
   * `node`, because two clusters may share a scope.
   */
  readonly nodeMetricLabels: string;
  /** The node's status document while it is fresh; `null` for a node that is down or stale. */
  readonly freshDocument: JsonObject | null;
  /** The last status document of the node, of any age. */
  readonly lastDocument: JsonObject | null;
  readonly cluster: ClusterSeries;
}

/** Facts that come from the cluster's documents, not from a node's report. */
export interface ClusterSeries {
  readonly isFailsafeEnabled: boolean | null;
  /** Names of the failsafe members; `null` if unknown. */
  readonly failsafeMembers: ReadonlySet<string> | null;
}

/** What the series of nodes are made from. */
export interface SeriesSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
}

/**
 * Every node of every cluster, of one snapshot at one instant. Generated one by one, so that a scrape can pause between
 * them.
 * @param omitted clusters whose nodes have no series
 */
export function* nodeSeries(
  { snapshot, policy, now }: SeriesSources,
  omitted: ReadonlySet<string> = new Set(),
): Generator<NodeSeries> {
  const { clusters } = snapshot();
  const nowMs = now();
  for (const state of clusters) {
    const clusterPolicy = policy(state.name);
    if (clusterPolicy === undefined || omitted.has(state.name)) continue;
    const view = viewAt(state, clusterPolicy, nowMs);
    const cluster = clusterSeriesOf(state);
    for (const observation of state.nodes) yield seriesOf(view, observation, cluster);
  }
}

function seriesOf(view: ClusterView, observation: Observation, cluster: ClusterSeries): NodeSeries {
  const { report, node } = observation;
  const isCurrent = report !== null && isHeard(view, observation);
  const parsed = report === null ? null : parseJson(report.document);
  const lastDocument = isObject(parsed) ? parsed : null;
  const summary = summarize(view, observation);
  const isFit = summary.primary === "fit" || summary.replica === "fit";
  const labels = { cluster: view.cluster.name, node: node.name };
  return {
    view,
    observation,
    summary,
    isPresent: isFit || isCurrent,
    labels: labelsText(labels),
    nodeMetricLabels: labelsText({
      scope: report?.scope ?? view.cluster.scope ?? view.cluster.name,
      name: report?.name ?? node.member,
      ...labels,
    }),
    freshDocument: isCurrent ? lastDocument : null,
    lastDocument,
    cluster,
  };
}

function clusterSeriesOf({ documents }: ClusterState): ClusterSeries {
  const { config, failsafe } = documents;
  const configured = config === null || config.status !== 200 ? undefined : parseJson(config.strict ?? config.body);
  // Any other status: failsafe mode has no members.
  const members =
    failsafe === null ? undefined : failsafe.status === 200 ? parseJson(failsafe.strict ?? failsafe.body) : {};
  return {
    isFailsafeEnabled: isObject(configured) ? configured["failsafe_mode"] === true : null,
    failsafeMembers: isObject(members) ? new Set(Object.keys(members)) : null,
  };
}
