/** What a run injects, and when. Pure: a seed gives one plan. */
import { Chance } from "../../campaign/chance.ts";

/** The kinds of faults. `proof/README.md` says what each one does. */
export const faultKinds = [
  "kill-node",
  "kill-patroni",
  "kill-postgres",
  "kill-etcd",
  "kill-rolecall",
  "freeze-node",
  "freeze-patroni",
  "freeze-postgres",
  "freeze-etcd",
  "freeze-rolecall",
  "freeze-receiver",
  "freeze-replay",
  "cut-node",
  "cut-node-etcd",
  "cut-node-peers",
  "cut-etcd",
  "cut-rolecall",
  "cut-rolecall-node",
  "cut-rolecall-etcd",
  "cut-balancer-rolecall",
  "unplug-node",
  "slow-node",
  "slow-etcd",
  "slow-rolecall",
  "clock-patroni",
  "clock-rolecall",
  "disk-full",
  "switchover",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** Which way a partition drops packets, seen from its machine. */
export type Direction = "in" | "out" | "both";

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** Which node: the leader of that moment, a replica, or one by its number. Other machines take the number. */
  readonly role: "leader" | "replica" | "any";
  /** 0, 1 or 2. */
  readonly number: number;
  readonly direction: Direction;
  /** How much: from 0 to 1, from the mildest to the worst of the kind. */
  readonly amount: number;
}

export interface Plan {
  /** Whether rolecall watches the leader key in etcd. */
  readonly hasDcs: boolean;
  readonly faults: readonly PlannedFault[];
}

/** When the last fault is healed at the latest, in ms from the first moment of the plan. */
export const faultsMs = 75_000;

/** Faults that do nothing for a while: shorter ones end before anybody notices. */
const leastMs: Partial<Record<FaultKind, number>> = {
  "freeze-replay": 20_000,
  "freeze-receiver": 20_000,
  "cut-node-peers": 15_000,
};

/** Faults that make the DCS give the lock to another node if they last longer than its ttl, or at once. */
const movers: readonly FaultKind[] = [
  "kill-node",
  "kill-patroni",
  "freeze-node",
  "freeze-patroni",
  "cut-node",
  "cut-node-etcd",
  "unplug-node",
  "disk-full",
  "switchover",
];

/** @param kinds the kinds to choose from; a run uses some of them, more and less often */
export function planOf(seed: number, kinds: readonly FaultKind[] = faultKinds): Plan {
  const chance = new Chance(seed);
  const hasDcs = chance.happens(0.5);
  const weights = Object.fromEntries(
    kinds.map((kind) => [kind, chance.happens(0.4) || kinds.length < 4 ? 1 + 2 * chance.next() : 0]),
  );
  if (Object.values(weights).every((weight) => weight === 0)) weights[chance.pick(kinds)] = 1;
  const faults: PlannedFault[] = [];
  for (let atMs = 2_000; atMs < faultsMs - 8_000; atMs += chance.int(3_000, 14_000)) {
    const kind = chance.weighted(weights) as FaultKind;
    const forMs = Math.max(
      leastMs[kind] ?? 0,
      chance.happens(0.4) ? chance.int(25_000, 40_000) : chance.int(3_000, 15_000),
    );
    faults.push({
      kind,
      atMs,
      forMs: Math.min(forMs, faultsMs - atMs),
      role: chance.weighted({ leader: 5, replica: 3, any: 2 }),
      number: chance.int(0, 2),
      direction: chance.weighted({ both: 2, in: 1, out: 1 }),
      amount: chance.next(),
    });
  }
  const wanted = movers.filter((kind) => kinds.includes(kind));
  if (wanted.length > 0) faults.push(mover(chance, wanted));
  return { hasDcs, faults: faults.toSorted((one, other) => one.atMs - other.atMs) };
}

/** Most promises apply only when the lock moves: each run tries to move it at least once. */
function mover(chance: Chance, wanted: readonly FaultKind[]): PlannedFault {
  return {
    kind: chance.pick(wanted),
    atMs: chance.int(3_000, 35_000),
    forMs: chance.int(28_000, 40_000),
    role: "leader",
    number: chance.int(0, 2),
    direction: chance.weighted({ both: 2, in: 1, out: 1 }),
    amount: chance.next(),
  };
}
