import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import type { Shape } from "../run/model-cluster.ts";
import { type Fault, faultOf, type FaultKind, laterKinds, latestKinds } from "../run/scenario.ts";
import type { Mode } from "../world/mode.ts";

/** How often each mode is drawn. */
const weights: Readonly<Record<Mode, number>> = { plain: 10, sync: 3, "sync-two": 2, quorum: 2, standby: 4 };
/** How likely an episode has a fault of a kind. */
const shares: Partial<Record<FaultKind, number>> = {
  crash: 0.35,
  promoteCluster: 0.4,
  restart: 0.25,
  repeatTimeline: 0.15,
};

/** The mode of a cluster, of those that are allowed and that it can have; `plain` if it can have none of them. */
export function modeFor(
  chance: Chance,
  { size, generation }: Pick<Shape, "size" | "generation">,
  allowed: readonly Mode[],
): Mode {
  const isPossible = (mode: Mode): boolean =>
    allowed.includes(mode) && (mode !== "quorum" || generation === 4) && (mode !== "sync-two" || size > 2);
  const possible = (Object.keys(weights) as Mode[]).filter(isPossible);
  if (possible.length === 0) return "plain";
  return chance.weighted(Object.fromEntries(possible.map((mode) => [mode, weights[mode]])) as Record<Mode, number>);
}

/** The faults of one episode of the kinds that a simulation draws apart. */
export function laterFaults(
  chance: Chance,
  profile: Profile,
  { shape, kinds }: { readonly shape: Shape; readonly kinds: readonly FaultKind[] },
): readonly Fault[] {
  const wanted = laterKinds.filter((kind) => kinds.includes(kind));
  // Where nothing else is drawn, most episodes have them.
  const factor = wanted.length === kinds.length ? 2.5 : 1;
  return wanted.flatMap((kind) => {
    const isDrawn = chance.happens((shares[kind] ?? 0) * factor);
    const fault = faultOf(chance, profile, { kind, size: shape.size });
    if (!isDrawn) return [];
    if (kind === "repeatTimeline")
      return shape.size > 2 && shape.mode === "plain" && shape.walRate > 0 ? repeatOf(fault, shape.size, profile) : [];
    return kind !== "promoteCluster" || shape.mode === "standby" ? [fault] : [];
  });
}

/** How likely an episode has an impostor, where it may have one. */
const impostorShare = 0.3;

/**
 * A node claims the lock, and its view names itself, while another one leads. Then the leader falls silent, and
 * sometimes rolecall is restarted: no third node's view names the impostor.
 */
export function impostorFaults(
  chance: Chance,
  profile: Profile,
  { shape, kinds }: { readonly shape: Shape; readonly kinds: readonly FaultKind[] },
): readonly Fault[] {
  const { faultsMs } = profile;
  const isDrawn = chance.happens(impostorShare);
  const base = faultOf(chance, profile, { kind: "claim", size: shape.size });
  const silence = chance.pick(["kill", "halt", "unreachable"] as const);
  const restarts = chance.happens(0.4) && kinds.includes("restart");
  if (!isDrawn || shape.size < 3 || !kinds.includes("claim") || !kinds.includes("view")) return [];
  const target = 1 + (base.other % (shape.size - 1));
  const from = (share: number, forShare: number): Pick<Fault, "atMs" | "forMs"> => ({
    atMs: Math.round(faultsMs * share),
    forMs: Math.round(faultsMs * forShare),
  });
  return [
    { ...base, target, ...from(0.1, 0.85) },
    { ...base, kind: "view", names: "itself", target, ...from(0.1, 0.85) },
    { ...base, kind: silence, target: "leader", ...from(0.35, 0.4) },
    ...(restarts ? [{ ...base, kind: "restart" as const, ...from(0.45, 0.02) }] : []),
  ];
}

/** How likely an episode has a leader that falls silent while nobody can take the lock. */
const leaderlessShare = 0.3;
/** How much longer than the hold that has to last, so that the promise about its end applies, in ms. */
const leaderlessMs = 20_000;

/**
 * The leader falls silent while the DCS is down, for longer than replicas keep their lag in time: no other node leads,
 * and no node has a view.
 */
export function leaderlessFaults(
  chance: Chance,
  profile: Profile,
  { shape, kinds }: { readonly shape: Shape; readonly kinds: readonly FaultKind[] },
): readonly Fault[] {
  const isDrawn = chance.happens(leaderlessShare);
  const base = faultOf(chance, profile, { kind: "dcsDown", size: shape.size });
  const silence = chance.pick(["kill", "halt", "unreachable"] as const);
  const { ttlMs, loopMs, retryMs } = profile;
  const forMs = Math.round(profile.faultsMs * 1.25);
  if (!isDrawn || !kinds.includes("dcsDown") || !kinds.includes(silence)) return [];
  if (forMs < ttlMs + loopMs + retryMs + leaderlessMs) return [];
  const atMs = Math.round(base.atMs * 0.05);
  return [
    { ...base, atMs, forMs },
    // Before the leader notices that the DCS is down, and gives up.
    { ...base, kind: silence, target: "leader", atMs: atMs + 500, forMs },
  ];
}

/**
 * A replica is cut off before a switchover to another one, so that it does not know the new timeline when it gets the
 * lock. The first node leads at first, so neither of them is the first one.
 */
function repeatOf(fault: Fault, size: number, { faultsMs }: Profile): readonly Fault[] {
  const target = 1 + (fault.other % (size - 1));
  const other = 1 + (target % (size - 1));
  const atMs = Math.round(fault.atMs * 0.15);
  const after = (share: number, forShare: number): Pick<Fault, "atMs" | "forMs"> => ({
    atMs: atMs + Math.round(faultsMs * share),
    forMs: Math.round(faultsMs * forShare),
  });
  const common = { ...fault, target, other };
  return [
    { ...common, kind: "detach", atMs, forMs: Math.round(faultsMs * 0.85) },
    { ...common, kind: "switchover", ...after(0.04, 0.1) },
    { ...common, ...after(0.4, 0.35) },
  ];
}

/** How likely an episode has a fault of one of the latest kinds. */
const latestShares: Partial<Record<FaultKind, number>> = { setBack: 0.15, recoverInPlace: 0.2, starve: 0.2 };

/** The faults of one episode of the kinds that were added last. A part of the episode is left for what they bring about. */
export function latestFaults(
  chance: Chance,
  profile: Profile,
  { shape, kinds }: { readonly shape: Shape; readonly kinds: readonly FaultKind[] },
): readonly Fault[] {
  const wanted = latestKinds.filter((kind) => kinds.includes(kind));
  const factor = wanted.length === kinds.length ? 3 : 1;
  return wanted.flatMap((kind) => {
    const isDrawn = chance.happens((latestShares[kind] ?? 0) * factor);
    const fault = faultOf(chance, profile, { kind, size: shape.size });
    const lastsMs = chance.next() * 0.5 * profile.faultsMs;
    if (!isDrawn || (kind !== "starve" && shape.mode === "standby")) return [];
    const times = { atMs: Math.round(fault.atMs * 0.5), forMs: Math.round(Math.max(fault.forMs, lastsMs)) };
    return [{ ...fault, ...times, target: kind === "starve" ? fault.target : ("leader" as const) }];
  });
}
