import { noAttachment } from "../../../core/cluster/attachment.ts";
import { unreadDcs } from "../../../core/cluster/dcs.ts";
import { emptyCluster } from "../../../core/cluster/empty-cluster.ts";
import { neverProbed } from "../../../core/cluster/observation.ts";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import { viewAt, type ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { withNodes } from "../../../core/health/observe/membership.ts";
import { observe } from "../../../core/health/observe/observe.ts";
import { withSource } from "../../../core/health/observe/source.ts";
import type { IncidentFile, Moment, ReplayedCluster } from "../file/incident-file.ts";

/**
 * The state of the cluster before the first moment of an incident. Members that joined later are not in it: what rolecall
 * said at that time did not count them.
 */
export function stateAtBeginning(of: ReplayedCluster): ClusterState {
  const { cluster, scope, nodes, joinedLater, hasDcs, accused, source } = of;
  const observations = nodes
    .filter(({ name }) => !joinedLater.has(name))
    .map((node) => {
      const accusations = accused.get(node.name) ?? [];
      const attachment = {
        ...noAttachment,
        isDetached: accusations.includes("detached"),
        isStalled: accusations.includes("stalled"),
      };
      return { ...neverProbed(node), attachment };
    });
  const empty = emptyCluster({ name: cluster, scope, discover: [] });
  const state = withNodes({ ...empty, dcs: hasDcs ? unreadDcs : null }, observations);
  return withSource(state, source === null ? null : stateAtBeginning(source));
}

/** The state after an outcome of the cluster, or of one of its sources. Times are of the file. */
export function replayed(
  of: ReplayedCluster,
  state: ClusterState,
  { outcome, atMs }: { readonly outcome: ProbeOutcome; readonly atMs: number },
): ClusterState {
  if (outcome.cluster === of.cluster)
    return observe(withJoined(of, state, outcome), outcome, { policy: of.policy, nowMs: atMs });
  if (of.source === null || state.source === null) return state;
  return withSource(state, replayed(of.source, state.source, { outcome, atMs }));
}

/** A member joins with the first outcome that is about it. */
function withJoined({ nodes, joinedLater }: ReplayedCluster, state: ClusterState, outcome: ProbeOutcome): ClusterState {
  if (!("node" in outcome) || !joinedLater.has(outcome.node) || state.index.has(outcome.node)) return state;
  const node = nodes.find(({ name }) => name === outcome.node);
  return node === undefined ? state : withNodes(state, [...state.nodes, neverProbed(node)]);
}

/** Replays an incident: the cluster after each moment, as it is judged then. */
export function* replay(incident: IncidentFile): Generator<{ readonly view: ClusterView; readonly moment: Moment }> {
  const { policy } = incident;
  let state = stateAtBeginning(incident);
  for (const moment of incident.moments) {
    for (const outcome of moment.outcomes) state = replayed(incident, state, { outcome, atMs: moment.atMs });
    yield { view: viewAt(state, policy, moment.atMs), moment };
  }
}
