import type { Observation } from "../../cluster/observation.ts";
import { labelsText, sampleLine, type Family } from "../../exposition/writer.ts";
import { activeDrainOf } from "../../health/evidence/node/active-drain.ts";
import { isUndiscovered, viewAt, type ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { acceptedPrimary } from "../../health/rules/accepted-primary.ts";
import { dcsReach, keptWithoutDcs } from "../../health/conditions/dcs.ts";
import { pausedForS } from "../../health/conditions/manager.ts";
import { writesWaitFigure } from "../../health/conditions/synchrony.ts";
import { wedgedPrimary } from "../../health/conditions/wedged.ts";
import type { AskedCheck } from "../../health/rules/asked-checks.ts";
import { nodeOverview } from "../../health/documents/node-overview.ts";
import type { Brought } from "../../health/conditions/condition.ts";
import { severeConditionOf } from "../../health/conditions/conditions.ts";
import { situationOf } from "../../health/documents/situation.ts";
import { judgeMember } from "../../health/rules/pool.ts";
import type { SeriesSources } from "./node-series.ts";

/** A gauge with one sample for each cluster. */
interface ClusterGauge {
  readonly name: string;
  readonly help: string;
  /** `null`: the cluster has no sample. */
  readonly value: (view: ClusterView) => number | null;
  /** Labels beside `cluster`. */
  readonly labels?: (view: ClusterView) => Readonly<Record<string, string>>;
}

const gauges: readonly ClusterGauge[] = [
  {
    name: "rolecall_cluster_has_primary",
    help: "1 if the cluster has a primary, or if a standby cluster has its leader. 0 also while rolecall is blind.",
    value: (view) => (acceptedPrimary(view) === null ? 0 : 1),
  },
  {
    name: "rolecall_cluster_primary",
    help: "1 for the node that this instance has as the primary. No sample without one, and for a standby cluster.",
    value: (view) => (primaryOf(view) === null ? null : 1),
    labels: (view) => ({ node: primaryOf(view)?.node.name ?? "" }),
  },
  {
    name: "rolecall_cluster_primary_info",
    help: "The database system of the cluster's primary. No sample without a primary, and for a standby cluster.",
    value: (view) => (primarySystemOf(view) === null ? null : 1),
    labels: (view) => ({ system: primarySystemOf(view) ?? "" }),
  },
  {
    name: "rolecall_cluster_blind",
    help: "1 while no node of the cluster is known or has fresh evidence: the fault is likely rolecall's.",
    value: ({ cluster, isBlind }) => (isBlind || isUndiscovered(cluster) ? 1 : 0),
  },
  {
    name: "rolecall_cluster_timeline",
    help: "The timeline of the cluster's leader, where known. A decrease means that writes may be lost.",
    value: ({ cluster }) => cluster.position?.timeline ?? null,
  },
  {
    name: "rolecall_cluster_claims",
    help: "Nodes with a fresh claim on the leader lock. 1 is right.",
    value: ({ lock }) => lock.claims.length,
  },
  {
    name: "rolecall_primary_wedged",
    help: "1 while the primary only looks alive: clients wait for its disk, or its Patroni does not work. No sample without a primary.",
    value: (view) => (wedgedPrimary(view) !== null ? 1 : acceptedPrimary(view) !== null ? 0 : null),
  },
  {
    name: "rolecall_writes_wait",
    help: "1 while commits at the primary wait for a synchronous standby, or may. No sample without a primary.",
    value: writesWaitFigure,
  },
  {
    name: "rolecall_paused_seconds",
    help: "For how long the nodes have said that their cluster manager is paused, as far as this process has seen; 0: it is not. No sample while no node answers.",
    value: pausedForS,
  },
  {
    name: "rolecall_dcs_unreachable",
    help: "1 while no node reaches the DCS, and neither a pause nor failsafe mode keeps the primary. No sample while unknown.",
    value: (view) => {
      const { kind } = dcsReach(view);
      if (kind === "silent") return keptWithoutDcs(view) === null ? 1 : 0;
      return kind === "reached" ? 0 : null;
    },
  },
  {
    name: "rolecall_dcs_up",
    help: "1 if the watch of the cluster's DCS works. No sample without `dcs`.",
    value: ({ cluster: { dcs } }) => (dcs === null ? null : dcs.isUp ? 1 : 0),
  },
  {
    name: "rolecall_dcs_trusted",
    help: "0 after a claim went on for a whole ttl after the DCS had withdrawn it. No sample without `dcs`.",
    value: ({ cluster: { dcs } }) => (dcs === null ? null : dcs.distrust === null ? 1 : 0),
  },
  {
    name: "rolecall_drains",
    help: "Nodes of the cluster that are drained or distrusted.",
    value: ({ cluster, nowMs }) =>
      [...cluster.drains.keys()].filter((node) => activeDrainOf(cluster, node, nowMs) !== null).length,
  },
];

/** The accepted primary; `null` if there is none, or it is the leader of a standby cluster. */
function primaryOf(view: ClusterView): Observation | null {
  const accepted = acceptedPrimary(view);
  return accepted?.report?.role === "standby_leader" ? null : accepted;
}

function primarySystemOf(view: ClusterView): string | null {
  return primaryOf(view)?.report?.system ?? null;
}

/** What the metrics of clusters are read from. */
export interface ClusterSources extends SeriesSources {
  /** Wall time, in ms since the epoch. */
  readonly wall: () => number;
  /** The checks with a limit for lag that balancers ask of a cluster. */
  readonly asked: (cluster: string) => readonly AskedCheck[];
  /** What features have found of a cluster. */
  readonly found: (cluster: string) => Brought["found"];
}

/** Our own metrics of each cluster, of one snapshot at one instant. */
export function clusterMetrics({ snapshot, policy, now, wall, asked, found }: ClusterSources): readonly Family[] {
  const [nowMs, wallMs] = [now(), wall()];
  const views = snapshot().clusters.flatMap((cluster) => {
    const clusterPolicy = policy(cluster.name);
    return clusterPolicy === undefined ? [] : [viewAt(cluster, clusterPolicy, nowMs)];
  });
  const families = gauges.map(({ name, help, value, labels }) => ({
    name,
    type: "gauge" as const,
    help,
    samples: () =>
      views.flatMap((view) => {
        const number = value(view);
        return number === null
          ? []
          : [sampleLine(name, labelsText({ cluster: view.cluster.name, ...labels?.(view) }), number)];
      }),
  }));
  const poolMembers = "rolecall_pool_members";
  const situation = "rolecall_situation_info";
  return [
    ...families,
    {
      name: poolMembers,
      type: "gauge",
      help: "Nodes that pass a check with a limit for lag which balancers ask, or which is configured.",
      *samples() {
        for (const view of views)
          for (const { text, check, pool } of asked(view.cluster.name)) {
            const named = pool === null ? {} : { pool };
            const labels = labelsText({ cluster: view.cluster.name, check: text, ...named });
            yield sampleLine(
              poolMembers,
              labels,
              view.cluster.nodes.filter((node) => judgeMember(view, node, check).fit).length,
            );
          }
      },
    },
    {
      name: situation,
      type: "gauge",
      help: "What is wrong, in words, while a cluster has no primary, several, or none that can be seen, or its clients fail.",
      *samples() {
        for (const view of views) {
          const brought = { found: found(view.cluster.name), seen: null };
          if (severeConditionOf(view, brought.found) === null) continue;
          // What features have seen says how long ago: as a label it would be a new series at each scrape.
          const known = { asked: asked(view.cluster.name), wallMs, brought };
          const nodes = view.cluster.nodes.map((node) => nodeOverview(view, node, known.asked));
          const { condition, wrong, cause, clients, next, action } = situationOf(view, { ...known, nodes });
          const words = { wrong: wrong ?? "", cause: cause ?? "", clients, next: next ?? "", action: action ?? "" };
          yield sampleLine(situation, labelsText({ cluster: view.cluster.name, condition, ...words }), 1);
        }
      },
    },
  ];
}
