import { Chance } from "../chance.ts";
import { type Profile, profiles, type Ttl, ttls as allTtls, withTtl } from "../profile.ts";
import type { Shape } from "../run/model-cluster.ts";
import { nameOf } from "../run/fault-name.ts";
import {
  type Fault,
  type FaultKind,
  kindsOf,
  laterKinds,
  latestKinds,
  opening,
  scenario,
  swarm,
} from "../run/scenario.ts";
import { type Mode, modes as allModes } from "../world/mode.ts";
import { impostorFaults, laterFaults, latestFaults, leaderlessFaults, modeFor } from "./later-faults.ts";

/** Which run of the simulation: a seed, and the part of it. */
export interface RunId {
  readonly seed: number;
  /** Each part of a long run is a run of its own, with a rolecall of its own. */
  readonly part: number;
  /** How long the run is at least, in virtual seconds. */
  readonly seconds: number;
  /** The numbers of the faults that are injected; null: all. */
  readonly kept: ReadonlySet<number> | null;
  /** The modes that its cluster is drawn from. */
  readonly modes: readonly Mode[];
  /** The ttls that its cluster is drawn from, in seconds. */
  readonly ttls: readonly Ttl[];
  /** What happens to the rolecall that the watched one follows; absent: the watched one probes itself. */
  readonly follows?: OwnerLife | undefined;
}

/**
 * What can happen to who is followed. `calm`: nothing; `rough`: its stream stalls and breaks, and it is cut off from nodes
 * and from its follower; `dead`: it dies and does not come back; `pair`: there are two, to one of which nothing happens, and
 * the other one is as `rough`, and starts anew.
 */
export const ownerLives = ["calm", "rough", "dead", "pair"] as const;
export type OwnerLife = (typeof ownerLives)[number];

/** A fault and its number in the run. */
export interface NumberedFault {
  readonly number: number;
  readonly fault: Fault;
}

/** Everything that a run is made of. Its seed alone determines it. */
export interface Plan {
  readonly profile: Profile;
  readonly shape: Shape;
  readonly chance: Chance;
  readonly hasDcs: boolean;
  readonly hasWorker: boolean;
  /** What happens to the rolecall that it follows; `null`: it probes itself. */
  readonly follows: OwnerLife | null;
  /** The faults before rolecall starts. */
  readonly opening: readonly NumberedFault[];
  readonly episodes: readonly (readonly NumberedFault[])[];
  /** How long the run is at least, in virtual ms. */
  readonly leastMs: number;
}

/** Virtual time has no noise: what is left is the step of the model and the latency of the network. */
const slackMs = 25;
/** Virtual time needs no reserve in what a holder may be refused: a rest of 5 s, a cluster interval, rounds. */
const confirmMs = 12_000;
/** The longest part of an episode in which faults begin, in virtual seconds. */
const faultsMaxS = 50;
/** With a longer ttl faults take longer too, so that some outlast it. In ms. */
const shortTtlMs = 20_000;
/** An episode with its recovery takes about this many virtual seconds. */
const episodeS = 75;

/** Draws a run from its seed. */
export function planOf(
  { seed, part, seconds, kept, modes, ttls, follows }: RunId,
  kinds: readonly FaultKind[] = kindsOf(null, true),
): Plan {
  if (follows !== undefined && kinds.some(isOfAddresses))
    return planOf(
      { seed, part, seconds, kept, modes, ttls, follows },
      kinds.filter((kind) => !isOfAddresses(kind)),
    );
  const mixedSeed = Math.imul(seed, 0x9e37_79b1) ^ Math.imul(part + 1, 0x85eb_ca6b);
  const chance = new Chance(mixedSeed);
  // What was added later has a stream of its own, so that the rest of a seed stays as it was.
  const later = new Chance(mixedSeed ^ 0x2545_f491);
  const newest = new Chance(mixedSeed ^ 0x51ed_270b);
  const latest = new Chance(mixedSeed ^ 0x3c6e_f372);
  const timed = withTtl(newest.pick(ttls));
  const surviveMs = newest.pick([0, 20_000, 120_000]);
  const longer = Math.max(1, timed.ttlMs / shortTtlMs);
  const count = Math.max(1, Math.round(seconds / episodeS));
  const faultsMs = Math.min(faultsMaxS, seconds * 0.6) * 1_000 * longer;
  const profile: Profile = { ...timed, slackMs, confirmMs, askEveryMs: 2_000, faultsMs };
  const drawnShape = {
    index: 0,
    size: chance.pick([2, 3, 3, 3, 4]),
    generation: chance.happens(0.3) ? (3 as const) : (4 as const),
    isDiscovered: chance.happens(0.4),
    walRate: chance.pick([200_000, 200_000, 20_000, 0]),
  };
  const mode = modeFor(later, drawnShape, modes);
  // Seeds of the first ttl are as they were before there were exporters.
  const isNewest = timed.ttlMs !== profiles.default.ttlMs;
  const hasExporters = isNewest && !drawnShape.isDiscovered && mode !== "standby";
  const shape: Shape = { ...drawnShape, mode, surviveMs: hasExporters ? surviveMs : 0 };
  const firstKinds = kinds.filter((kind) => !laterKinds.includes(kind) && !latestKinds.includes(kind));
  const mix = swarm(chance.fork(7), firstKinds);
  const mixed = Object.keys(mix) as FaultKind[];
  let number = -1;
  const numbered = (faults: readonly Fault[]): readonly NumberedFault[] =>
    faults.map((fault) => ({ number: (number += 1), fault })).filter((one) => kept === null || kept.has(one.number));
  const drawn = chance.fork(8);
  const { size } = shape;
  const openingFaults = numbered(opening(drawn, profile, size).filter(({ kind }) => mixed.includes(kind)));
  const episodes = Array.from({ length: count }, () =>
    mixed.length === 0 ? [] : numbered(scenario(drawn, profile, { size, kinds: mixed, mix })),
  );
  const added = episodes.map(() => numbered(laterFaults(later, profile, { shape, kinds })));
  const impostors = episodes.map(() => numbered(isNewest ? impostorFaults(newest, profile, { shape, kinds }) : []));
  const leaderless = episodes.map(() => numbered(isNewest ? leaderlessFaults(newest, profile, { shape, kinds }) : []));
  const last = episodes.map(() => numbered(latestFaults(latest, profile, { shape, kinds })));
  return {
    profile,
    shape,
    chance: chance.fork(9),
    hasDcs: chance.happens(0.5),
    hasWorker: chance.happens(0.5),
    follows: follows ?? null,
    opening: openingFaults,
    episodes: upToLast(
      episodes.map((faults, at) =>
        [faults, added[at] ?? [], impostors[at] ?? [], leaderless[at] ?? [], last[at] ?? []].flat(),
      ),
      kept !== null,
    ),
    leastMs: seconds * 1_000,
  };
}

/** Whether a fault gives an address to another server: the oracle knows one rolecall that may take it for the node's. */
function isOfAddresses(kind: FaultKind): boolean {
  return ["guest", "reuse", "move"].includes(kind);
}

/** The episodes up to the last one with a fault, at least one: what follows it in a shrunk run shows nothing. */
function upToLast(
  episodes: readonly (readonly NumberedFault[])[],
  isShrunk: boolean,
): readonly (readonly NumberedFault[])[] {
  const last = episodes.findLastIndex((faults) => faults.length > 0);
  return isShrunk ? episodes.slice(0, Math.max(1, last + 1)) : episodes;
}

/** When the last of the faults of an episode is to end, in ms after its begin. */
export function endMsOf(faults: readonly NumberedFault[]): number {
  return Math.max(0, ...faults.map(({ fault }) => fault.atMs + fault.forMs));
}

/** All faults of a plan. */
export function faultsOf({ opening: first, episodes }: Plan): readonly NumberedFault[] {
  return [...first, ...episodes.flat()];
}

/** Whether a plan has a fault of a kind. */
export function hasFault(plan: Plan, kind: FaultKind): boolean {
  return faultsOf(plan).some(({ fault }) => fault.kind === kind);
}

/** The command that repeats a run bit for bit. */
export function commandOf({ seed, part, seconds, kept, modes, ttls, follows }: RunId): string {
  const ofModes = modes.length === allModes.length ? "" : ` --modes ${modes.join()}`;
  const ofTtls = ttls.length === allTtls.length ? "" : ` --ttl ${ttls.join()}`;
  const which = `--seed ${seed}${part === 0 ? "" : ` --part ${part}`} --seconds ${seconds}${ofModes}${ofTtls}`;
  return `npm run campaign -- ${which}${follows === undefined ? "" : ` --follows ${follows}`}${kept === null ? "" : ` --keep ${[...kept].join() || "none"}`}`;
}

/** A plan in lines, for people. */
export function describePlan({ shape, profile, hasDcs, hasWorker, opening: first, episodes }: Plan): readonly string[] {
  const { size, generation, isDiscovered, mode, surviveMs } = shape;
  const parts = [
    mode !== "plain" && mode,
    isDiscovered && "discovered",
    hasDcs && "DCS watched",
    hasWorker && "a worker",
    surviveMs > 0 && `exporters and survive of ${surviveMs / 1_000} s`,
  ].filter(Boolean);
  const line = ({ number, fault }: NumberedFault): string => `  #${number} ${nameOf(fault)}`;
  return [
    `cluster: ${size} nodes, Patroni ${generation}, ttl ${profile.ttlMs / 1_000} s, ${parts.join(", ") || "fixed"}`,
    ...(first.length > 0 ? [" before the start:", ...first.map(line)] : []),
    ...episodes.flatMap((faults, at) => (faults.length > 0 ? [` episode ${at}:`, ...faults.map(line)] : [])),
  ];
}
