import { failoverLimits, type LagLimit } from "../../../core/cluster/lag-limit.ts";
import { nodeNamed } from "../../../core/cluster/lookup.ts";
import { viewAt, type ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { askedChecks } from "../../../core/health/rules/asked-checks.ts";
import { explain } from "../../../core/health/rules/explain.ts";
import { explanationJson, remarksOn } from "../../../core/health/documents/explanation-document.ts";
import {
  clusterRow,
  liveCluster,
  oldestReportMs,
  type ClusterRow,
  type LiveCluster,
} from "../../../core/health/documents/live-cluster.ts";
import type { IncidentFile } from "../file/incident-file.ts";
import { parseQuestion } from "./question.ts";
import { replayed } from "./replay.ts";
import { replayTimeline, type Timeline } from "./timeline.ts";

/** The cluster at an instant of an incident. */
export interface IncidentSight {
  /** In ms of the file's clock. */
  readonly atMs: number;
  readonly cluster: LiveCluster;
  readonly row: ClusterRow;
  /** The age of the oldest last report, in ms. */
  readonly ageMs: number | null;
  readonly limits: SightLimits;
}

/** The limits for the lag of the nodes at an instant. */
interface SightLimits {
  readonly limits: readonly LagLimit[];
  /**
   * When the limits of checks, listeners and pushes were known, in ms since the epoch; `null` if the file does not
   * state them. The cluster's own limit is always that of the instant.
   */
  readonly known_at_ms: number | null;
  /** Whether the cluster's own limit is known at the instant. */
  readonly is_failover_known: boolean;
}

/** Shows the cluster of an incident at any instant. The same instant is always shown in the same way. */
export class IncidentPlayer {
  readonly incident: IncidentFile;
  readonly timeline: Timeline;

  constructor(incident: IncidentFile) {
    this.incident = incident;
    this.timeline = replayTimeline(incident);
  }

  /** The cluster at an instant, in ms of the file's clock. */
  at(atMs: number): IncidentSight {
    const view = this.#viewAt(atMs);
    const limits = this.#limitsOf(view);
    const wallMs = (this.incident.beganWallMs ?? 0) + atMs;
    const described = liveCluster(view, { asked: askedChecks(limits.limits), wallMs });
    // The file has no addresses of APIs: those of the replay are made up.
    const nodes = described.nodes.map((node) => ({ ...node, api: null, exporter: null }));
    const cluster = { ...described, nodes };
    return { atMs, cluster, row: clusterRow(cluster), ageMs: oldestReportMs(cluster), limits };
  }

  #limitsOf({ cluster }: ClusterView): SightLimits {
    const { limits: known } = this.incident;
    const own = (known?.limits ?? []).map((limit) => ({
      ...limit,
      of: null,
      requested_ms_ago: null,
      requested_for_ms: null,
    }));
    const failover = failoverLimits(cluster);
    return {
      limits: [...own, ...failover],
      known_at_ms: known?.atWallMs ?? null,
      is_failover_known: failover.length > 0,
    };
  }

  /**
   * Explains the verdict on a node at an instant, with the fields of `/explain`.
   * @throws Error for an unknown node or check
   */
  explain(atMs: number, node: string, check: string): object {
    const question = parseQuestion(`${node} ${check}`, this.incident);
    const view = this.#viewAt(atMs);
    const observation = nodeNamed(view.cluster, node);
    if (observation === undefined)
      throw new Error(`Cannot explain ${check}: the node must be one of the file, got ${node}`);
    const head = { node, cluster: view.cluster.name, check };
    const explanation = explain(view, observation, question.check);
    return { ...head, ...explanationJson(explanation, question.check, remarksOn(view, observation)) };
  }

  #viewAt(atMs: number): ClusterView {
    const { policy, moments } = this.incident;
    const start = this.timeline.checkpoints.findLast((checkpoint) => checkpoint.atMs <= atMs);
    let state = start?.state;
    if (start === undefined || state === undefined) throw new Error("Cannot replay: the incident has no beginning");
    for (let next = start.next; ; next += 1) {
      const moment = moments[next];
      if (moment === undefined || moment.atMs > atMs) break;
      for (const outcome of moment.outcomes) state = replayed(this.incident, state, { outcome, atMs: moment.atMs });
    }
    return viewAt(state, policy, atMs);
  }
}
