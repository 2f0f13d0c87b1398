import { noAttachment } from "../cluster/attachment.ts";
import { emptyCluster } from "../cluster/empty-cluster.ts";
import { neverProbed } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { viewAt, type ClusterView } from "../health/evidence/cluster-view.ts";
import { withNodes } from "../health/observe/membership.ts";
import { observe } from "../health/observe/observe.ts";
import type { IncidentFile, Moment } from "./file/incident-file.ts";

/** The state of the cluster before the first moment of an incident. */
export function stateAtBeginning({ cluster, scope, nodes, accused }: IncidentFile): ClusterState {
  const observations = nodes.map((node) => {
    const accusations = accused.get(node.name) ?? [];
    const attachment = {
      ...noAttachment,
      isDetached: accusations.includes("detached"),
      isStalled: accusations.includes("stalled"),
    };
    return { ...neverProbed(node), attachment };
  });
  return withNodes(emptyCluster({ name: cluster, scope, discover: [] }), observations);
}

/** Replays an incident: the cluster after each moment, as it is judged then. */
export function* replay(incident: IncidentFile): Generator<{ readonly view: ClusterView; readonly moment: Moment }> {
  const { policy } = incident;
  let state = stateAtBeginning(incident);
  for (const moment of incident.moments) {
    for (const outcome of moment.outcomes) state = observe(state, outcome, { policy, nowMs: moment.atMs });
    yield { view: viewAt(state, policy, moment.atMs), moment };
  }
}
