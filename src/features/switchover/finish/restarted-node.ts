import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isHeard } from "../../../core/health/evidence/node/freshness.ts";
import type { Pending } from "../machine/event.ts";
import type { RestartedNode } from "../machine/plan.ts";
import type { FinishIntent } from "../intent/pause-intent.ts";
import { type provenPrimary, servingPrimary } from "./proven-primary.ts";

/** What is seen of a restart. */
export interface SeenRestart {
  /** The node that clients may be led to: the primary; of a replica the replica itself, if it runs. `null`: there is none. */
  readonly node: string | null;
  readonly pending: Pending;
}

/** A report that was asked for so long ago, in ms, does not say that a node still runs as before. */
const recentMs = 2_000;

/**
 * Tells how far the restart of a database is, by when its PostgreSQL has started (`postmaster_start_time`).
 * @param name the node
 * @param primary the primary that clients may be led to; `null` if there is none. Default: whom rolecall says yes to
 */
export function seenRestart(
  view: ClusterView | null,
  { name, isLeader, startedAt }: RestartedNode & { readonly name: string },
  primary: string | null = servingPrimary(view),
): SeenRestart {
  const found = view === null ? undefined : nodeNamed(view.cluster, name);
  if (view === null || found === undefined) return { node: null, pending: "unknown" };
  const { report } = found;
  const isRunning = isHeard(view, found) && !found.isDown && report !== null && report.state === "running";
  const isServing = isRunning && (!isLeader || (report.role === "primary" && report.location !== null));
  const node = isLeader ? (primary === name && !isServing ? null : primary) : isServing ? name : null;
  if (!isRunning) return { node, pending: report === null || !isHeard(view, found) ? "unknown" : "yes" };
  if (report.startedAt !== null && report.startedAt !== startedAt) return { node, pending: isServing ? "done" : "yes" };
  return { node, pending: view.nowMs - found.sentAtMs < recentMs ? "no" : "unknown" };
}

/**
 * How a process that finishes the run of another one sees its restart; nothing if the run restarts nothing.
 * @param primaryOf the primary that it may lead clients to. Default: whom rolecall says yes to
 */
export function restartOf(
  { restart, leader, evidence, start }: FinishIntent,
  view: () => ClusterView | null,
  primaryOf: typeof provenPrimary = (seen) => servingPrimary(seen),
): { readonly restart?: () => SeenRestart } {
  if (restart === undefined) return {};
  const about = { name: leader, ...restart };
  return {
    restart: () => {
      const seen = view();
      return seenRestart(seen, about, primaryOf(seen, evidence, { leader, start }));
    },
  };
}
