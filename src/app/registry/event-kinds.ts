import { clusterEventKindsOf, type EventKind, processEventKinds } from "../../core/events/cluster-event.ts";
import { poolerChanges, poolerEnds } from "../../features/pgbouncer/event-kinds.ts";
import { routeEnds } from "../../features/audit/event-kinds.ts";
import { canaryEnds } from "../../features/canary/event-kinds.ts";
import { serviceEnds } from "../../features/kubernetes/event-kinds.ts";
import { switchoverChanges } from "../../features/switchover/event-kinds.ts";

/** The events that begin and end the conditions of features, in the order of references. */
const featureEnds: { readonly [begins in EventKind]?: EventKind } = {
  ...routeEnds,
  ...canaryEnds,
  ...serviceEnds,
  ...poolerEnds,
};

/** The other kinds of events of features. */
const featureChanges: readonly EventKind[] = [...poolerChanges, ...switchoverChanges];

/** The kinds of events of clusters and their nodes, in the order of references. */
export const clusterEventKinds = clusterEventKindsOf(featureEnds, featureChanges);

export const eventKinds: readonly EventKind[] = [...clusterEventKinds, ...processEventKinds];
