import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import type { Kind } from "../wire/mask.ts";

/** The target of a fault: the leader when it begins, or a node by its index. */
export type Target = "leader" | number;

/** The kinds of faults, and how often each is chosen where a scenario allows it. */
const weights = {
  kill: 4,
  halt: 4,
  freezeManager: 4,
  dcsDown: 3,
  dcsCut: 3,
  pause: 2,
  failsafe: 2,
  switchover: 6,
  switchback: 3,
  dropLock: 3,
  detach: 6,
  freezeReceiver: 5,
  pauseReplay: 6,
  burst: 2,
  quiet: 1,
  cascade: 2,
  keepHistory: 4,
  wire: 10,
  overload: 3,
  lose: 5,
  claim: 4,
  oldStatus: 3,
  view: 6,
  oldHistory: 2,
  guest: 2,
  freeze: 0,
  suspend: 0,
  unreachable: 0,
  dcsMember: 0,
  dcsEvents: 0,
  reuse: 0,
  crash: 0,
  promoteCluster: 0,
  restart: 0,
  repeatTimeline: 0,
  setBack: 0,
  recoverInPlace: 0,
  starve: 0,
};

/** Kinds that only a simulation has, and how often each is chosen there. */
export const simulatedWeights: Partial<Record<FaultKind, number>> = {
  freeze: 3,
  suspend: 1,
  unreachable: 4,
  dcsMember: 3,
  dcsEvents: 3,
  reuse: 2,
};

export type FaultKind = keyof typeof weights;

/**
 * Kinds that were added later. A simulation draws them apart, so that a seed means the same faults of all other kinds.
 */
export const laterKinds: readonly FaultKind[] = ["crash", "promoteCluster", "restart", "repeatTimeline"];

/** Kinds that were added after these. They are drawn apart too. */
export const latestKinds: readonly FaultKind[] = ["setBack", "recoverInPlace", "starve"];

const lasting: readonly FaultKind[] = ["detach", "freezeReceiver", "pauseReplay", "keepHistory", "claim", "oldStatus"];

const fields = ["xlog", "timeline", "replication", "replication_state", "server_version"] as const;
const wireKinds = ["hang", "late", "slow", "drip", "reset", "garbage", "error", "truncate", "refuse"] as const;

/** One fault, with all its random parameters. */
export interface Fault {
  readonly kind: FaultKind;
  /** When it begins and how long it lasts, in milliseconds from the start of the episode. */
  readonly atMs: number;
  readonly forMs: number;
  readonly target: Target;
  /** A second node, by its index. */
  readonly other: number;
  readonly request: Kind;
  readonly wire: (typeof wireKinds)[number];
  readonly field: (typeof fields)[number];
  readonly every: number;
  readonly isNull: boolean;
  /** The leader in a false view: none, its own witness, another node, or always the leader when the fault begins. */
  readonly names: "nobody" | "itself" | "other" | "stuck";
  /** Which part of the timeout an overloaded node takes for an answer. */
  readonly load: number;
}

/** Faults likely to expose or hide another fault: they follow it while it lasts. */
const companions: Partial<Record<FaultKind, readonly Partial<Fault>[]>> = {
  oldStatus: [
    { kind: "switchover" },
    { kind: "dropLock" },
    { kind: "kill", target: "leader" },
    { kind: "wire", request: "cluster", wire: "hang" },
  ],
  claim: [
    { kind: "kill", target: "leader" },
    { kind: "switchover" },
    { kind: "wire", request: "cluster", wire: "hang" },
    { kind: "view" },
    { kind: "unreachable", target: "leader" },
  ],
  view: [{ kind: "switchover" }, { kind: "kill", target: "leader" }, { kind: "claim" }, { kind: "oldStatus" }],
  detach: [
    { kind: "lose", target: "leader", field: "xlog" },
    { kind: "switchover" },
    { kind: "wire", target: "leader", request: "status", wire: "hang" },
    { kind: "lose", field: "xlog" },
  ],
  freezeReceiver: [
    { kind: "lose", target: "leader", field: "xlog" },
    { kind: "switchover" },
    { kind: "halt", target: "leader" },
  ],
  keepHistory: [{ kind: "kill", target: "leader" }, { kind: "dropLock" }, { kind: "freezeManager", target: "leader" }],
  pauseReplay: [
    { kind: "lose", target: "leader", field: "xlog", every: 1 },
    { kind: "kill", target: "leader" },
    { kind: "burst" },
  ],
  switchover: [
    { kind: "wire", request: "cluster", wire: "hang" },
    { kind: "wire", request: "history", wire: "hang" },
    { kind: "oldHistory" },
    { kind: "detach" },
  ],
  dcsEvents: [{ kind: "switchback" }, { kind: "switchover" }],
  guest: [{ kind: "wire", request: "cluster", wire: "hang" }, { kind: "switchover" }],
};

/** What a scenario may draw from. */
export interface Extent {
  /** How many nodes there are. */
  readonly size: number;
  readonly kinds: readonly FaultKind[];
  /** How often each kind is chosen; without it each scenario leaves most kinds out. */
  readonly mix?: FaultMix;
}

/** How often each kind of fault is chosen. */
export type FaultMix = Readonly<Partial<Record<FaultKind, number>>>;

/**
 * A mix for one seed of a simulation (swarm testing): a random part of all kinds, each with a random weight. Kinds that
 * are left out leave more room for the others to meet.
 */
export function swarm(chance: Chance, kinds: readonly FaultKind[]): FaultMix {
  if (kinds.length === 0) return {};
  const share = 0.1 + 0.6 * chance.next();
  const chosen = kinds.filter(() => chance.happens(share));
  const rows = (chosen.length === 0 ? [chance.pick(kinds)] : chosen).map((kind) => [
    kind,
    (simulatedWeights[kind] ?? weights[kind]) * 4 ** (2 * chance.next() - 1),
  ]);
  return Object.fromEntries(rows) as FaultMix;
}

/** All kinds of faults, or those of a list of names with commas. */
export function kindsOf(names: string | null, isSimulated = false): readonly FaultKind[] {
  const all = (Object.keys(weights) as FaultKind[]).filter((kind) => isSimulated || weights[kind] > 0);
  const wanted = names?.split(",") ?? all;
  const unknown = wanted.find((name) => !all.some((kind) => kind === name));
  if (unknown !== undefined) throw new Error(`Cannot read --kinds: it must name some of ${all.join()}, got ${unknown}`);
  return all.filter((kind) => wanted.includes(kind));
}

/** The faults of one episode, in order. The same random stream gives the same faults. */
export function scenario(chance: Chance, profile: Profile, extent: Extent): readonly Fault[] {
  const { size, kinds, mix = episodeMix(chance, kinds) } = extent;
  const faults: Fault[] = [];
  for (let count = chance.int(1, 6); count > 0; count -= 1) {
    const fault = faultOf(chance, profile, { kind: chance.weighted(mix as Record<FaultKind, number>), size });
    faults.push(fault);
    const following = (companions[fault.kind] ?? []).filter(({ kind = "switchover" }) =>
      extent.mix === undefined ? weights[kind] > 0 : kinds.includes(kind),
    );
    if (following.length === 0 || !chance.happens(0.5)) continue;
    const companion = chance.pick(following);
    const base = faultOf(chance, profile, { kind: companion.kind ?? "switchover", size });
    faults.push({ ...base, ...companion, atMs: Math.round(fault.atMs + fault.forMs * (chance.next() - 0.1)) });
  }
  return faults.filter(({ atMs }) => atMs >= 0).sort((one, two) => one.atMs - two.atMs);
}

/** Swarm testing: each episode leaves most kinds out, so that the others meet more often. */
function episodeMix(chance: Chance, kinds: readonly FaultKind[]): FaultMix {
  const allowed = kinds.filter(() => chance.happens(0.35));
  return Object.fromEntries(
    kinds.map((kind) => [kind, allowed.includes(kind) || allowed.length === 0 ? weights[kind] : 0]),
  );
}

/** What is wrong with a cluster when rolecall starts: often nothing. It is healed with the first episode. */
export function opening(chance: Chance, profile: Profile, size: number): readonly Fault[] {
  const kinds: readonly FaultKind[] = chance.happens(0.4)
    ? chance.pick([["claim"], ["view"], ["claim", "view"], ["claim", "wire"]] as const)
    : [];
  return kinds.map((kind) => ({ ...faultOf(chance, profile, { kind, size }), atMs: 0, request: "cluster" }));
}

/** One fault of a kind, with random parameters. */
export function faultOf(
  chance: Chance,
  profile: Profile,
  { kind, size }: { readonly kind: FaultKind; readonly size: number },
): Fault {
  return {
    kind,
    atMs: Math.round(profile.faultsMs * chance.next()),
    // Many are short, some as long as the whole episode. Faults that take a window to detect last longer.
    forMs: Math.round(
      profile.faultsMs * (lasting.includes(kind) ? 0.25 + 0.6 * chance.next() : 0.03 + 0.9 * chance.next() ** 2),
    ),
    target: targetOf(chance, kind, size),
    other: chance.int(0, size - 1),
    request: chance.weighted({ status: 4, cluster: 5, history: 2, other: 1 }),
    wire: chance.pick(wireKinds),
    field: chance.pick(fields),
    every: chance.pick([1, 1, 2, 3, 5]),
    isNull: chance.happens(0.5),
    names: chance.weighted({ nobody: 2, itself: 1, other: 3, stuck: 3 }),
    load: 0.3 + 0.6 * chance.next(),
  };
}

function targetOf(chance: Chance, kind: FaultKind, size: number): Target {
  const index = chance.int(0, size - 1);
  const isOften = [
    "kill",
    "halt",
    "freezeManager",
    "dcsCut",
    "lose",
    "wire",
    "oldStatus",
    "keepHistory",
    "overload",
    "crash",
  ].includes(kind);
  return chance.happens(isOften ? 0.4 : 0.1) ? "leader" : index;
}
