import { emptyCluster } from "../../src/core/cluster/empty-cluster.ts";
import { neverProbed } from "../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { withNodes } from "../../src/core/health/observe/membership.ts";

/** A cluster of configured nodes of which none was probed yet: where an exploration begins. */
export function unprobedCluster(names: readonly string[]): ClusterState {
  const observations = names.map((name) =>
    neverProbed({
      name,
      member: name,
      isMemberFixed: false,
      api: `http://${name}:8008`,
      exporter: null,
      database: null,
      isArchiveFed: false,
      zone: null,
      isFixed: true,
    }),
  );
  return withNodes(emptyCluster({ name: "demo", scope: "demo", discover: [] }), observations);
}
