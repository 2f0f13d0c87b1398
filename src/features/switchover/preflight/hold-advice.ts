/** How long a cluster's clients should be held after a loss. Pure. */
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { PooledDatabaseConfig, PoolerConfig } from "../../../core/config/model/config.ts";

/** What the configuration of a pooler should say. */
export interface HoldAdvice {
  /** `absent`: its clients are not held. `short`: the hold ends before a failover may. */
  readonly kind: "absent" | "short";
  readonly pooler: string;
  /** A sentence about the pooler, without it. */
  readonly text: string;
  readonly hint: string;
}

/** What a promotion and the first sure answer of the new primary take after the lock was free, in ms. */
const promotionMs = 5_000;
/** How much longer than a hold PgBouncer must let its clients wait, in ms. */
export const holdMarginMs = 5_000;

/**
 * Compares `hold_on_loss` with the failover of the pooler's clusters: the lock of a leader that dies stands for `ttl`, and
 * another node notices that within `loop_wait` (dynamic configuration, node API).
 * @param clusters of those whose configuration is not known nothing is said
 * @returns what is missing or too short; nothing where the hold outlasts the failover
 */
export function holdAdvice(
  poolers: readonly (Pick<PoolerConfig, "name" | "holdOnLossMs"> & {
    readonly databases: readonly Pick<PooledDatabaseConfig, "cluster">[];
  })[],
  clusters: readonly Pick<ClusterState, "name" | "config">[],
): readonly HoldAdvice[] {
  return poolers.flatMap(({ name: pooler, databases, holdOnLossMs }): readonly HoldAdvice[] => {
    const own = clusters.filter(({ name }) => databases.some(({ cluster }) => cluster === name));
    const failovers = own.flatMap(({ name, config }) =>
      config === null ? [] : [{ name, config, ms: config.ttlMs + config.loopWaitMs + promotionMs }],
    );
    const [longest] = failovers.toSorted((one, two) => two.ms - one.ms);
    if (longest === undefined) return [];
    const [least, timeout] = [longest.ms / 1_000, (longest.ms + holdMarginMs) / 1_000];
    const { ttlMs, loopWaitMs } = longest.config;
    const parts = `ttl ${ttlMs / 1_000} s, loop_wait ${loopWaitMs / 1_000} s, ${promotionMs / 1_000} s for the promotion`;
    const why = `cluster ${longest.name} may have no primary for ${least} s (${parts})`;
    const hint = `Set hold_on_loss: ${least}s, and query_wait_timeout of PgBouncer to ${timeout} or more.`;
    if (holdOnLossMs === null) {
      const text = `PgBouncer refuses clients after the loss of a primary: ${why}`;
      return [{ kind: "absent", pooler, text, hint }];
    }
    if (holdOnLossMs >= longest.ms) return [];
    const text = `hold_on_loss must be at least ${least}s, got ${holdOnLossMs / 1_000}s: ${why}`;
    return [{ kind: "short", pooler, text, hint }];
  });
}
