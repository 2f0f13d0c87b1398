import type { Withdrawal } from "../../core/cluster/dcs.ts";
import { nodeOfMember } from "../../core/cluster/lookup.ts";
import type { DcsSource, OpenDcsSource } from "../../core/dcs/dcs-source.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import { dcsSources, pendingChanges } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { DcsLog } from "./dcs-log.ts";
import { etcdSourceOf, DcsWatches } from "./dcs-watches.ts";

/** What the watches of the DCS need of their host. */
export type DcsHost = Pick<
  Host,
  "log" | "metrics" | "observe" | "random" | "cluster" | "snapshot" | "record" | "hint" | "offers"
>;

/**
 * Watches the DCS of the clusters that are probed here, until the scope ends: who probes the others says what their DCS
 * says, too. What is read is recorded, changes that a watch announces are hints, and both are logged and counted.
 */
export function openDcs(host: DcsHost, scope: Pick<Scope, "setTimer" | "hold">): Opened {
  const { log, metrics, observe: now, random, record, hint, offers } = host;
  const dcsLog = new DcsLog(log, now);
  const withdrawals = new CountedWithdrawals(host);
  const watches = new DcsWatches({
    now,
    random,
    setTimer: scope.setTimer,
    sourceOf: (cluster, dcs, access) => sourceIn([...dcsSources.in(offers), etcdSourceOf], [cluster, dcs, access]),
    onResult: (cluster, result, sentAtMs) => {
      dcsLog.logResult(cluster, result);
      record({ kind: "dcs", cluster, result, sentAtMs });
    },
    onHint: (cluster, member) => {
      const state = host.cluster(cluster);
      const node = state === undefined || member === null ? undefined : nodeOfMember(state, member);
      hint({ cluster, node: node?.node.name ?? null, event: null });
    },
    onRead: (cluster, outcome) => metrics.count("dcsReads", { cluster, outcome }),
    onWatchEnd: (cluster, end) => {
      metrics.count("dcsWatchEnds", { cluster, cause: end.cause });
      dcsLog.logWatchEnd(cluster, end);
    },
    onFiles: (cluster, problem) => dcsLog.logFiles(cluster, problem),
  });
  scope.hold("the watches", () => watches.stop());
  // Another feature, which brings a source, may open later.
  scope.hold(
    "what is followed",
    dcsSources.subscribe(offers, () => watches.lookForSources()),
  );
  scope.hold(
    "what is offered",
    pendingChanges.bring(offers, (cluster) => watches.isChangePending(cluster)),
  );
  return {
    configure: ({ clusters }) => withdrawals.keepOnly(clusters.map(({ name }) => name)),
    probing: (clusters) => watches.start(clusters),
    clusterChanged: (cluster) => withdrawals.look(cluster),
  };
}

/** The first source that one of those that open some has. */
function sourceIn(all: readonly OpenDcsSource[], of: Parameters<OpenDcsSource>): DcsSource | null {
  for (const open of all) {
    const source = open(...of);
    if (source !== null) return source;
  }
  return null;
}

/** Counts the members from which the DCS takes a yes. */
class CountedWithdrawals {
  readonly #host: Pick<Host, "cluster" | "metrics">;
  /** Those that are counted, by cluster and member. */
  readonly #counted = new Map<string, ReadonlyMap<string, Withdrawal>>();

  constructor(host: Pick<Host, "cluster" | "metrics" | "snapshot">) {
    this.#host = host;
    for (const { name, dcs } of host.snapshot().clusters) if (dcs !== null) this.#counted.set(name, dcs.withdrawals);
  }

  /** To be called when the state of a cluster may have changed. */
  look(cluster: string): void {
    const withdrawals = this.#host.cluster(cluster)?.dcs?.withdrawals;
    const counted = this.#counted.get(cluster);
    if (withdrawals === undefined || withdrawals === counted) return;
    this.#counted.set(cluster, withdrawals);
    for (const [member, withdrawal] of withdrawals)
      if (counted?.get(member) !== withdrawal) this.#host.metrics.count("dcsWithdrawals", { cluster });
  }

  /** Forgets all other clusters. */
  keepOnly(clusters: readonly string[]): void {
    for (const name of this.#counted.keys()) if (!clusters.includes(name)) this.#counted.delete(name);
  }
}
