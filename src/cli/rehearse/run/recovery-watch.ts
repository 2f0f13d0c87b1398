import { setTimeout as sleep } from "node:timers/promises";
import { fetchStatusFrom, type StatusCluster } from "../../client/cluster-status.ts";
import type { RolecallClient } from "../../client/rolecall-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import { serverKey, type WriteAttempt } from "../measure/recording.ts";

/** Time between two looks at the cluster, in ms. */
const lookIntervalMs = 500;
/** For how long writes must flow without a failure before the cluster counts as recovered, in ms. */
const steadyMs = 1_000;

/** What a cluster that has recovered looks like. */
export interface RecoveryGoal {
  readonly cluster: string;
  /** The leader before the outage. */
  readonly oldLeader: string;
  /** The nodes that must be fit for their roles. */
  readonly nodes: readonly string[];
  /** When to give up, in ms of one monotonic clock. */
  readonly endMs: number;
}

/**
 * Waits until a node leads, the given nodes are fit for their roles and writes flow through the pool.
 * @param attempts returns the writes that have ended so far
 * @returns `null`, or what is missing at the deadline
 */
export async function waitForRecovery(
  server: RolecallClient,
  goal: RecoveryGoal,
  { attempts, signal }: { readonly attempts: () => readonly WriteAttempt[]; readonly signal: AbortSignal },
): Promise<string | null> {
  for (;;) {
    const missing =
      (await missingFromCluster(server, goal, attempts())) ?? missingFromWrites(attempts(), performance.now());
    if (missing === null || performance.now() >= goal.endMs) return missing;
    await sleep(lookIntervalMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
  }
}

async function missingFromCluster(
  server: RolecallClient,
  goal: RecoveryGoal,
  attempts: readonly WriteAttempt[],
): Promise<string | null> {
  try {
    const { clusters } = await fetchStatusFrom(server);
    const cluster = clusters.find(({ cluster: name }) => name === goal.cluster);
    // A database that is killed may start again where it was; then the failed writes show the outage.
    const isOver = cluster?.leader !== goal.oldLeader || attempts.some(({ outcome }) => outcome !== "acknowledged");
    return isOver ? incompleteness(cluster, goal.nodes) : `${goal.oldLeader} still leads`;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

/** What keeps a cluster from being whole; `null` if it is. */
export function incompleteness(cluster: StatusCluster | undefined, nodes: readonly string[]): string | null {
  if (cluster === undefined) return "rolecall does not know the cluster any more";
  if (cluster.leader === null) return "no node leads";
  const unfit = cluster.nodes.filter(({ node, reason }) => reason !== null && nodes.includes(node));
  const [first] = unfit;
  return first === undefined ? null : `${first.node} is ${first.reason}`;
}

/** What keeps writes from flowing; `null` if all of the last second were acknowledged by one server. */
export function missingFromWrites(attempts: readonly WriteAttempt[], nowMs: number): string | null {
  const last = attempts.filter(({ endedAtMs }) => endedAtMs > nowMs - steadyMs);
  const failed = last.findLast(({ outcome }) => outcome !== "acknowledged");
  if (failed !== undefined) return `writes through the pool fail: ${failed.cause ?? "unknown cause"}`;
  const servers = new Set(last.flatMap(({ server }) => (server === null ? [] : serverKey(server))));
  return servers.size === 1 ? null : "no writes are acknowledged by one server alone";
}
