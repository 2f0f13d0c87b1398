import { Chance } from "../campaign/chance.ts";
import { beginOf, cycleOf } from "./cycle.ts";

/** The kinds of actions, with the mean time between two of a kind, in s. */
const meanSeconds = {
  switchover: 60,
  fault: 45,
  reload: 150,
  changedReload: 200,
  invalidReload: 240,
  workerKill: 300,
  dcsFault: 240,
  balancerFault: 300,
  drain: 200,
  hint: 90,
  attack: 30,
  pageVisit: 25,
} as const;

export type ActionKind = keyof typeof meanSeconds;

/** One thing that happens in a soak. */
export interface Action {
  readonly atMs: number;
  readonly kind: ActionKind;
  /** The cluster, node or variant: a number that the action maps to what it has. */
  readonly pick: number;
  /** A variant of the action, such as the kind of a fault. */
  readonly variant: string;
  /** How long its effect lasts, in ms. */
  readonly lastsMs: number;
}

/** The variants of each kind of action with their weights. */
const variants: Readonly<Record<ActionKind, Readonly<Record<string, number>>>> = {
  switchover: { node: 1 },
  fault: { killLeader: 2, kill: 2, freeze: 2, freezeLeader: 1, hang: 2, slow: 1, garbage: 2, lag: 2, detach: 2 },
  reload: { unchanged: 1 },
  changedReload: { cluster: 1, listener: 1 },
  invalidReload: { unknownKey: 1, duration: 1, portTaken: 1, missingFile: 1, garbage: 1 },
  workerKill: { youngest: 1 },
  dcsFault: { restart: 3, hang: 1, loseEvents: 1, compact: 1, cut: 2 },
  balancerFault: { silent: 1, half: 1, garbage: 1, closes: 1, endless: 1, operator: 1 },
  drain: { node: 1 },
  hint: { cluster: 1, node: 1, invented: 1 },
  attack: { slowHeads: 2, half: 2, huge: 2, garbage: 2, reset: 2, idle: 1, inventedNames: 2 },
  pageVisit: { stream: 2, stalled: 1, pages: 2 },
};

/**
 * The actions of a soak in order of time. The same seed gives the same plan. A fault begins at least 20 s before the
 * end, so that the end is quiet. With cycles ({@link cycleOf}), the actions of a whole cycle begin in its active part.
 */
export function planOf(seed: number, minutes: number): readonly Action[] {
  const endMs = minutes * 60_000 - 20_000;
  const cycle = cycleOf(minutes);
  const activeShare = cycle === null ? 1 : cycle.activeMs / cycle.lengthMs;
  const kinds = Object.keys(meanSeconds) as ActionKind[];
  return kinds
    .flatMap((kind, salt) => {
      const chance = new Chance(seed).fork(salt + 1);
      const actions: Action[] = [];
      // Between half and three halves of the mean: no two at once, and none is left out for long.
      const next = (): number => meanSeconds[kind] * 1_000 * activeShare * (0.5 + chance.next());
      for (let activeMs = 10_000 + next() / 2; beginOf(cycle, activeMs) < endMs; activeMs += next())
        actions.push({
          atMs: Math.round(beginOf(cycle, activeMs)),
          kind,
          pick: chance.int(0, 999_999),
          variant: chance.weighted(variants[kind]),
          lastsMs: chance.int(6_000, 20_000),
        });
      return actions;
    })
    .sort((a, b) => a.atMs - b.atMs);
}
