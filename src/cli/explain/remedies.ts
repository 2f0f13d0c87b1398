import type { Reason } from "../../health/reason.ts";

/** One sentence for each reason: what must change so that a node with this reason becomes fit. See docs/reasons.md. */
const remedies: { readonly [reason in Reason]: string } = {
  down: "its API must answer: check that the node runs and that rolecall can reach its address",
  stale: "it must answer again: its last answer is older than max_age",
  unknown: "it must answer once: rolecall has had no answer from it yet",
  blind: "some node of the cluster must answer: check the network between rolecall and the nodes",
  contested: "only one node may claim the leader lock: find out which one holds it, and stop the other",
  superseded: "it must hold the leader lock: another node holds it now",
  demoted: "it must hold the leader lock again, or follow the new leader and be checked as a replica",
  not_writable: "its PostgreSQL must run as a primary that accepts writes",
  foreign: "it must belong to this cluster: check its address, scope and system identifier",
  misaddressed: "its address must lead to the node of this name: correct the address",
  moved: "the load balancer must use the address of its database: update the server there",
  diverged: "it must have the leader's WAL only: rewind it, or copy it anew with rolecall reinitialize",
  detached: "it must receive WAL from the leader again: check primary_conninfo, the slot and the network",
  stray_primary: "its PostgreSQL must not run as a primary beside the leader: stop it, then rewind it or copy it anew",
  stalled: "its position must move again: check its WAL receiver and the network to the leader",
  wrong_role: "it must have the role that the check asks for, for example after a switchover",
  lagging: "its lag must fall below the limit, or the check must allow more",
  lag_unknown: "it and the leader must report their positions",
  not_running: "its PostgreSQL must run and accept connections",
  tag: "its tags must have the values that the check asks for",
  noloadbalance: "its tag noloadbalance must be removed",
  not_sync: "it must be a synchronous standby",
  not_quorum: "it must be a quorum standby",
  not_async: "it must be an asynchronous standby",
  replication_state: "its replication state must be the one that the check asks for",
  min_lsn: "it must replay up to the position that the check asks for",
  distrusted: "an operator must trust it again: run rolecall trust, or wait",
  drained: "its drain must end: run rolecall undrain, or wait",
  held_back: "the time of handover_hold must pass after the change of leader",
  other_zone: "no node of the check's zone may be fit: it takes sessions only then",
  companion: "the program beside it that the check asks for must answer: restart it, or correct its port",
  none_fit: "at least one node must be fit",
  no_manager: "it needs a cluster manager: a database exporter alone cannot answer this route",
};

const byText: ReadonlyMap<string, string> = new Map(Object.entries(remedies));

/** Returns what would make a node fit; `null` for a reason that this version does not know. */
export function remedyOf(reason: string): string | null {
  return byText.get(reason) ?? null;
}
