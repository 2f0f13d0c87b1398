import assert from "node:assert/strict";
import { FleetMembership, type MemberDrainChange } from "../../src/features/fleet/ownership/fleet-membership.ts";
import { FleetKeys, type MemoryFleetStore } from "./fleet-keys.ts";
import { ManualClock } from "./manual-clock.ts";

/** How long a member may show no sign of life, in ms. */
export const leaseMs = 5_000;

/** A member of the fleet. */
export interface Member {
  readonly id: string;
  readonly store: MemoryFleetStore;
  readonly membership: FleetMembership;
  /** How often what it does with some cluster has changed. */
  changes: number;
  displaced: number;
  /** The drains that it has begun and ended. */
  readonly drains: MemberDrainChange[];
}

/** Members of one fleet over the same clusters. */
export class FleetFixture {
  readonly clock = new ManualClock();
  readonly keys = new FleetKeys(this.clock, leaseMs);
  readonly members: Member[] = [];
  readonly clusters: readonly string[];
  readonly observers: number;

  constructor(count: number, observers = 1) {
    this.clusters = Array.from({ length: count }, (_, at) => `c${at}`);
    this.observers = observers;
  }

  add(
    id: string,
    { zone = null, shape = "s", instance = id, weight = 1, observers = this.observers }: Partial<AddedMember> = {},
  ): Member {
    const store = this.keys.store();
    const { clock } = this;
    const membership = new FleetMembership({
      store,
      self: { id, url: `http://${id.includes(":") ? id : `${id}:9108`}`, zone, weight, version: "1", instance },
      leaseMs,
      now: () => clock.nowMs,
      setTimer: (run, ms) => clock.setTimer(run, ms),
      onAssigned: () => (member.changes += 1),
      onPhase: () => {},
      onKnown: () => {},
      onDisplaced: () => (member.displaced += 1),
      onDrain: (change) => void member.drains.push(change),
      onError: (error) => assert.fail(String(error)),
    });
    const member: Member = { id, store, membership, changes: 0, displaced: 0, drains: [] };
    membership.serve({ clusters: new Map(this.clusters.map((name) => [name, shape])), observers });
    membership.start();
    this.members.push(member);
    return member;
  }

  /** The clusters that a member owns, as it knows. */
  owned({ membership }: Member): readonly string[] {
    return this.clusters.filter((name) => {
      const assignment = membership.assignmentOf(name);
      return assignment.kind === "probed" && assignment.isOwned;
    });
  }

  /** Checks that each cluster has as many owners as it should, and that the others follow these. */
  check(members: readonly Member[] = this.members, owners = this.observers): void {
    for (const name of this.clusters) {
      const owning = members.filter((member) => this.owned(member).includes(name)).map(({ id }) => id);
      assert.equal(owning.length, owners, `${name} is owned by ${owning.join(", ")}`);
      for (const { id, membership } of members) {
        const assignment = membership.assignmentOf(name);
        if (assignment.kind === "followed")
          assert.deepEqual(assignment.owners.map((owner) => owner.id).toSorted(), owning.toSorted(), `${id}: ${name}`);
      }
    }
  }
}

interface AddedMember {
  readonly zone: string | null;
  readonly shape: string;
  readonly instance: string;
  readonly weight: number;
  readonly observers: number;
}
