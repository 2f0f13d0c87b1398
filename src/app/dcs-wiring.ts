import type { HintEffect } from "../cluster/hint.ts";
import { nodeOfMember } from "../cluster/lookup.ts";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import { DcsWatches } from "../dcs/dcs-watches.ts";
import { DcsLog } from "./logs/dcs-log.ts";
import type { Logger } from "../log/logger.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { Clock } from "../state/clock.ts";
import type { Store } from "../state/store.ts";
import type { Machine } from "./machine/machine.ts";

/** What the watches of the DCS depend on. */
interface DcsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly machine: Machine;
  readonly metrics: OwnMetrics;
}

/** What the watches of the DCS lead to. */
interface DcsEffects {
  readonly record: (outcome: ProbeOutcome) => void;
  /** Probes a node, or with `null` the whole cluster, more often for some seconds. */
  readonly hint: (cluster: string, node: string | null) => HintEffect;
}

/**
 * Builds the watches of the DCS. What they read is recorded, their events are hints, and both are logged and counted.
 */
export function buildDcsWatches({ store, clock, log, machine, metrics }: DcsParts, effects: DcsEffects): DcsWatches {
  store.onChange((before, after) => {
    const known = before.dcs?.withdrawals;
    for (const [member, withdrawal] of after.dcs?.withdrawals ?? [])
      if (known?.get(member) !== withdrawal) metrics.count("dcsWithdrawals", { cluster: after.name });
  });
  const now = (): number => clock.observe();
  const dcsLog = new DcsLog(log, now);
  return new DcsWatches({
    now,
    random: machine.random,
    setTimer: machine.setTimer,
    sourceOf: machine.openDcs,
    onResult: (cluster, result, sentAtMs) => {
      dcsLog.logResult(cluster, result);
      effects.record({ kind: "dcs", cluster, result, sentAtMs });
    },
    onHint: (cluster, member) => {
      const state = store.clusterNamed(cluster);
      const node = state === undefined || member === null ? undefined : nodeOfMember(state, member);
      effects.hint(cluster, node?.node.name ?? null);
    },
    onRead: (cluster, outcome) => metrics.count("dcsReads", { cluster, outcome }),
    onWatchEnd: (cluster, end) => {
      metrics.count("dcsWatchEnds", { cluster, cause: end.cause });
      dcsLog.logWatchEnd(cluster, end);
    },
    onFiles: (cluster, problem) => dcsLog.logFiles(cluster, problem),
  });
}
