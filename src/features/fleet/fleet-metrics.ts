import type { FeatureMetric } from "../../core/feature/feature.ts";

/** What an instance does in its fleet. */
export interface FleetUsage {
  /** Whether it sees changes of the fleet as they happen. */
  readonly isJoined: boolean;
  /** The members that it knows, itself included. */
  readonly members: number;
  /** The clusters that it owns. */
  readonly owned: number;
  /** How often it has become the owner of a cluster, and how often it has ceased to be one. */
  readonly changes: { readonly gained: number; readonly lost: number };
  /** How many clusters it does not share with every member that serves them. */
  readonly unshared: number;
  /** About how many nodes the owners of a cluster that it follows disagree. */
  readonly disagreements: number;
}

/** What the metrics are read from; `null`: this instance is in no fleet. */
interface MeasuredFleet {
  readonly usage: FleetUsage | null;
}

/** The metrics of a member of a fleet. */
export const fleetMetrics: readonly FeatureMetric<MeasuredFleet>[] = [
  {
    type: "gauge",
    name: "rolecall_fleet_up",
    help: "Whether this rolecall is joined to its fleet: 0 while it does not reach the fleet's etcd.",
    read: ofFleet(({ isJoined }) => Number(isJoined)),
  },
  {
    type: "gauge",
    name: "rolecall_fleet_members",
    help: "Members of the fleet that this rolecall knows, itself included.",
    read: ofFleet(({ members }) => members),
  },
  {
    type: "gauge",
    name: "rolecall_fleet_owned",
    help: "Clusters that this rolecall owns: it probes them for the fleet.",
    read: ofFleet(({ owned }) => owned),
  },
  {
    type: "counter",
    name: "rolecall_fleet_ownership_changes_total",
    help: "Times that this rolecall has become the owner of a cluster (gained), or has ceased to be one (lost).",
    read: ofFleet(({ changes }) => Object.entries(changes).map(([change, count]) => [{ change }, count] as const)),
  },
  {
    type: "gauge",
    name: "rolecall_fleet_unshared",
    help: "Clusters that this rolecall does not share with every member that serves them: what they ask differs.",
    read: ofFleet(({ unshared }) => unshared),
  },
  {
    type: "gauge",
    name: "rolecall_fleet_disagreements",
    help: "Nodes about which the two owners of a cluster disagree: whether it answers, its role, or who has the lock.",
    read: ofFleet(({ disagreements }) => disagreements),
  },
];

function ofFleet<Samples>(read: (usage: FleetUsage) => Samples): (running: MeasuredFleet | null) => Samples | null {
  return (running) => {
    const usage = running?.usage ?? null;
    return usage === null ? null : read(usage);
  };
}
