/** When the nodes of a cluster are worth probing more often than each interval (rule 12). */
import { lastLeaderOf, lockHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { lockTtlMs } from "../evidence/node/freshness.ts";
import { lockStatusAt } from "../evidence/leadership/lock-status.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { isWritableReport } from "./lock.ts";

/**
 * Causes that follow from the cluster's state: `no_holder`: nobody holds the lock of a cluster that had a holder.
 * `not_writable`: the holder's document does not show a writable database. `unnamed_holder`: the holder does not
 * answer, and a view no longer names it. `lock_expiry`: the holder does not answer, and its lock may expire now.
 */
export type StateCause = "no_holder" | "not_writable" | "unnamed_holder" | "lock_expiry";

/** The causes at one instant, and when time alone may add another one, in ms of rolecall's clock. */
export interface StateCauses {
  readonly causes: readonly StateCause[];
  readonly nextAtMs: number;
}

/**
 * The lock may have been renewed up to one `loop_wait` before the last confirmation. Of that time the last part is
 * watched, because a burst lasts at most 10 s. In ms.
 */
const expiryLeadMs = 8_000;
/** How long after the confirmation + ttl the lock may still expire, in ms: the holder may have died later. */
const expiryLagMs = 2_000;

const quiet: StateCauses = { causes: [], nextAtMs: Infinity };

/**
 * Returns the causes for a burst. Pure, and cheap while the holder answers.
 * @param context the cluster's policy, and the instant in ms of rolecall's clock
 */
export function stateCauses(cluster: ClusterState, context: EvaluationContext): StateCauses {
  const holder = observationOf(cluster, lockHolderOf(cluster.leadership));
  if (holder !== undefined && holder.failuresInRow === 0)
    return isWritable(holder) ? quiet : { causes: ["not_writable"], nextAtMs: Infinity };
  const last = observationOf(cluster, lastLeaderOf(cluster.leadership));
  if (last === undefined || isUnprobed(last)) return quiet;
  const { holder: present, validUntilMs } = lockStatusAt(cluster, context.policy, context.nowMs);
  if (last.failuresInRow === 0) return { causes: ["no_holder"], nextAtMs: validUntilMs };
  return whileSilent(cluster, { last, isHolder: present !== null, validUntilMs }, context.nowMs);
}

/** The causes while the last holder does not answer. */
function whileSilent(
  cluster: ClusterState,
  { last, isHolder, validUntilMs }: { last: Observation; isHolder: boolean; validUntilMs: number },
  nowMs: number,
): StateCauses {
  const causes: StateCause[] = isHolder ? [] : ["no_holder"];
  const { name } = last.node;
  const isUnnamed = [...cluster.leaderViews.values()].some(
    ({ names, sentAtMs }) => names !== name && sentAtMs > last.sentAtMs,
  );
  if (isUnnamed) causes.push("unnamed_holder");
  const expiryMs = last.sentAtMs + lockTtlMs(cluster);
  const leadMs = Math.min(expiryLeadMs, cluster.config?.loopWaitMs ?? expiryLeadMs);
  if (nowMs >= expiryMs - leadMs && nowMs <= expiryMs + expiryLagMs) causes.push("lock_expiry");
  const expiryAtMs = nowMs < expiryMs - leadMs ? expiryMs - leadMs : Infinity;
  return { causes, nextAtMs: Math.min(expiryAtMs, isHolder ? validUntilMs : Infinity) };
}

/** Whether nothing is known of a node yet: after our own start the last holder is known, but has not been probed. */
function isUnprobed({ report, exporter, failuresInRow }: Observation): boolean {
  return report === null && exporter === null && failuresInRow === 0;
}

function isWritable({ report }: Observation): boolean {
  return report === null || report.role === "standby_leader" || isWritableReport(report);
}

function observationOf(cluster: ClusterState, name: string | null): Observation | undefined {
  return name === null ? undefined : nodeNamed(cluster, name);
}
