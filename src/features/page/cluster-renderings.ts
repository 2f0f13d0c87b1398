import { clusterNamed } from "../../core/cluster/lookup.ts";
import type { ClusterState, Snapshot } from "../../core/cluster/snapshot.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { clusterRow, liveCluster, oldestReportMs, type LiveCluster } from "../../core/health/documents/live-cluster.ts";
import { findTwinsAmong } from "../../core/health/conditions/twins.ts";
import type { Brought } from "../../core/health/conditions/condition.ts";
import type { AskedCheck } from "../../core/health/rules/asked-checks.ts";
import type { AskedOverview } from "../../core/health/documents/asked-nodes.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";

/** What clusters are rendered from. */
export interface LiveSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** How many events of a cluster have begun and not ended. */
  readonly openEvents: (cluster: string) => number;
  /** The checks with a limit for lag that balancers ask. */
  readonly asked: (cluster: string) => readonly AskedCheck[];
  /** What features know of a cluster. */
  readonly brought: (cluster: string) => Brought;
  /** The nodes that balancers ask for. */
  readonly askedNodes: (cluster: ClusterState) => AskedOverview;
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** One cluster, rendered once for all streams. */
export interface ClusterRendering {
  /** The fleet row as JSON, without ages. */
  readonly row: string;
  /** Increases when `row` changes. */
  readonly version: number;
  /** The age of the oldest last report, in ms. */
  readonly ageMs: number | null;
  /** All of the cluster as JSON. */
  readonly full: string;
}

/** How long a rendering is valid without a change, in ms: verdicts change with time alone too. */
const validMs = 1_000;

interface Kept {
  readonly sequence: number;
  readonly atMs: number;
  readonly cluster: LiveCluster;
  readonly asked: AskedOverview;
  readonly row: string;
  readonly version: number;
}

/** Renders clusters for streams: each state of a cluster once, however many clients there are. */
export class ClusterRenderings {
  readonly #sources: LiveSources;
  readonly #kept = new Map<string, Kept>();
  #versions = 0;

  constructor(sources: LiveSources) {
    this.#sources = sources;
  }

  /** Renders a cluster; `null` if it is not monitored. */
  of(name: string): ClusterRendering | null {
    const kept = this.#current(name);
    if (kept === null) return null;
    const elapsedMs = Math.round(this.#sources.now() - kept.atMs);
    const ageMs = oldestReportMs(kept.cluster);
    const { row, version } = kept;
    return {
      row,
      version,
      ageMs: ageMs === null ? null : ageMs + elapsedMs,
      get full() {
        return `${JSON.stringify(withAsked(kept)).slice(0, -1)},"rendered_ms_ago":${elapsedMs}}`;
      },
    };
  }

  /** Forgets everything, while nobody is interested. */
  clear(): void {
    this.#kept.clear();
  }

  #current(name: string): Kept | null {
    const { snapshot, policy, now, wall, asked, askedNodes, brought } = this.#sources;
    const state = clusterNamed(snapshot(), name);
    const clusterPolicy = policy(name);
    const known = this.#kept.get(name);
    if (state === undefined || clusterPolicy === undefined) {
      this.#kept.delete(name);
      return null;
    }
    const nowMs = now();
    if (known?.sequence === state.sequence && nowMs - known.atMs < validMs) return known;
    const view = viewAt(state, clusterPolicy, nowMs);
    const twins = findTwinsAmong(snapshot().clusters, policy)(view);
    const live = liveCluster(view, { asked: asked(name), wallMs: wall(), twins, brought: brought(name) });
    const cluster = withSteadySince(live, known?.cluster);
    const row = JSON.stringify({ ...clusterRow(cluster), open_events: this.#sources.openEvents(name) });
    const version = known?.row === row ? known.version : (this.#versions += 1);
    const kept = { sequence: state.sequence, atMs: nowMs, cluster, asked: askedNodes(state), row, version };
    this.#kept.set(name, kept);
    return kept;
  }
}

/** With the fields of `/status` that say for which nodes balancers ask. */
function withAsked({ cluster, asked }: Kept): object {
  const nodes = cluster.nodes.map((node) => ({ ...node, ...asked.nodes.get(node.node) }));
  return { ...cluster, nodes, asked_non_members: asked.nonMembers };
}

/** The clocks are not read at one instant: a difference of less than this, in ms, is none. */
const sinceToleranceMs = 1_000;

/** Keeps the instant since when something is wrong, as long as the same is wrong since about then: a row stays equal. */
function withSteadySince(cluster: LiveCluster, before: LiveCluster | undefined): LiveCluster {
  const { situation } = cluster;
  const known = before?.situation;
  if (known === undefined || known.since === null || situation.since === null) return cluster;
  if (known.condition !== situation.condition) return cluster;
  const apartMs = Math.abs(Date.parse(known.since) - Date.parse(situation.since));
  return apartMs < sinceToleranceMs ? { ...cluster, situation: { ...situation, since: known.since } } : cluster;
}
