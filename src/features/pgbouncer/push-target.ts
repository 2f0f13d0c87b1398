import type { ServerPool } from "../../core/balancing/pool-verdicts.ts";
import type { FindPushTargets, PushedClusters, PushTarget } from "../../core/balancing/balancer-set.ts";
import { nodeNamed } from "../../core/cluster/lookup.ts";
import type { DatabaseAddress } from "../../core/cluster/node.ts";
import type { PoolerConfig } from "../../core/config/model/config.ts";
import { plainCheck } from "../../core/health/check.ts";
import { type ClusterView, viewIfKnown } from "../../core/health/evidence/leadership/cluster-view.ts";
import { isHeard } from "../../core/health/evidence/node/freshness.ts";
import { judgeMember } from "../../core/health/rules/pool.ts";
import { PgbouncerBalancer, type RepairedFile } from "./pgbouncer-balancer.ts";

/** The PgBouncers whose databases have files. Other databases lead to a balancer, which is pushed to itself. */
export const poolerPushTargets: FindPushTargets = toldPushTargets(() => {});

/** The same. @param onRepaired called with each file that was changed by something else, and put right */
export function toldPushTargets(onRepaired: (repaired: RepairedFile) => void): FindPushTargets {
  return ({ poolers }, clusters) => pushTargets(poolers, clusters, onRepaired);
}

function pushTargets(
  poolers: readonly PoolerConfig[],
  clusters: PushedClusters,
  onRepaired: (repaired: RepairedFile) => void,
): readonly PushTarget[] {
  const addressOf = (cluster: string, node: string): DatabaseAddress | null => {
    const state = clusters.cluster(cluster);
    return (state === undefined ? undefined : nodeNamed(state, node))?.node.database ?? null;
  };
  return poolers.flatMap((config) => {
    const pools = poolsOf(config);
    if (pools.length === 0) return [];
    const create: PushTarget["create"] = (context) => {
      const isSolePrimary = (name: string, node: string): boolean => {
        const view = viewIfKnown(clusters.cluster(name), clusters.policy(name), context.now());
        return view !== null && isOnlyPrimary(view, node);
      };
      return new PgbouncerBalancer(config, { ...context, addressOf, isSolePrimary, onRepaired });
    };
    return [{ name: config.name, key: JSON.stringify(config), pools, create }];
  });
}

/** Whether this node is accepted as the primary, and no other one that is heard of says that it is one. */
function isOnlyPrimary(view: ClusterView, node: string): boolean {
  return view.cluster.nodes.every((observation) => {
    if (observation.node.name === node) return judgeMember(view, observation, plainCheck("primary")).fit;
    const { report } = observation;
    return !isHeard(view, observation) || report?.role !== "primary" || report.state !== "running";
  });
}

function poolsOf({ name: balancer, databases }: PoolerConfig): readonly ServerPool[] {
  return databases
    .filter(({ file }) => file !== null)
    .map(({ name: backend, cluster, check }) => ({
      balancer,
      backend,
      cluster,
      check,
      servers: null,
      cutsSessions: false,
      weight: null,
    }));
}
