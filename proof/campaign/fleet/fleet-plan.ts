import { Chance } from "../chance.ts";
import type { FaultKind } from "../run/scenario.ts";
import { kindsOf } from "../run/scenario.ts";
import { type NumberedFault, type Plan, planOf } from "../sim/plan.ts";
import { modes } from "../world/mode.ts";

/** Which run of a fleet. */
export interface FleetRunId {
  readonly seed: number;
  readonly edges: number;
  /** How many clusters there are in all, and how many of them are modelled in full. */
  readonly clusters: number;
  readonly full: number;
  /** How many nodes a cheap cluster has. */
  readonly nodes: number;
  /** How many instances serve each cluster. */
  readonly serving: number;
  /** How long faults begin, in virtual seconds. */
  readonly seconds: number;
  /** The kinds of faults of the fleet. */
  readonly kinds: readonly FleetFaultKind[];
  /** The names of the faults that happen; `null`: all. */
  readonly kept: ReadonlySet<string> | null;
}

/**
 * What can happen to a fleet.
 *
 * - `kill`, `stop`: an instance ends, without a word or as the program does, and starts again
 * - `freeze`, `suspend`: its process, or its machine, stands still
 * - `cutStore`, `cutPeers`, `cutNodes`: it does not reach the store, the other instances, or the nodes
 * - `partition`: some instances do not reach the others
 * - `hold`, `breakStreams`: its streams stall, or are cut
 * - `storeDown`, `storeOlder`, `storeSlow`: nobody reaches the store; it comes back with older data; it is slow
 * - `drainMember`: an operator drains it; `drainNode`: an operator drains a node of a cheap cluster there
 * - `late`: it starts later than the others
 */
export const fleetFaultKinds = [
  "kill",
  "stop",
  "freeze",
  "suspend",
  "cutStore",
  "cutPeers",
  "cutNodes",
  "partition",
  "hold",
  "breakStreams",
  "storeDown",
  "storeOlder",
  "storeSlow",
  "drainMember",
  "drainNode",
  "late",
] as const;
export type FleetFaultKind = (typeof fleetFaultKinds)[number];

/** A fault of the fleet. */
export interface FleetFault {
  readonly name: string;
  readonly kind: FleetFaultKind;
  /** When it begins, in ms after the warm-up, and for how long. */
  readonly atMs: number;
  readonly forMs: number;
  /** The instance, by its place. */
  readonly edge: number;
  /** A further choice: which side, which node. */
  readonly pick: number;
}

/** Everything that a run is made of. */
export interface FleetPlan {
  readonly chance: Chance;
  readonly full: readonly Plan[];
  readonly weights: readonly number[];
  readonly observers: 1 | 2;
  readonly faults: readonly FleetFault[];
  readonly faultsMs: number;
}

/** The faults of clusters that belong to one rolecall: a fleet has its own. */
const ofOneInstance: readonly FaultKind[] = ["guest", "reuse", "freeze", "suspend", "starve", "restart"];
const longestMs: Partial<Record<FleetFaultKind, number>> = { freeze: 9_000, suspend: 9_000, hold: 8_000 };
const forMaxMs = 20_000;
const faultsMax = 7;

/** Draws a run from its seed. */
export function fleetPlanOf(id: FleetRunId): FleetPlan {
  const { seed, kept, edges, full, seconds } = id;
  const chance = new Chance(Math.imul(seed, 0x9e37_79b1) ^ 0x3c6e_f372);
  const ttls = [chance.pick([12, 20] as const)];
  const kinds = kindsOf(null, true).filter((kind) => !ofOneInstance.includes(kind));
  const plans = Array.from({ length: full }, (_, part) => {
    const plan = planOf({ seed, part, seconds, kept: null, modes, ttls }, kinds);
    const isKept = ({ number }: NumberedFault): boolean => kept === null || kept.has(`${part}.${number}`);
    const shape = { ...plan.shape, index: part };
    return { ...plan, shape, opening: [], episodes: plan.episodes.map((faults) => faults.filter(isKept)) };
  });
  const faultsMs = seconds * 600;
  const weights = Array.from({ length: edges }, () => chance.pick([1, 1, 1, 2]));
  const observers = chance.happens(0.2) ? 2 : 1;
  const faults = drawnFaults(chance.fork(2), id, faultsMs);
  return {
    chance: chance.fork(3),
    full: plans,
    weights,
    observers,
    faults: faults.filter(({ name }) => kept === null || kept.has(name)),
    faultsMs,
  };
}

/** A few kinds in each run, so that some are alone. */
function drawnFaults(chance: Chance, { edges, kinds }: FleetRunId, faultsMs: number): readonly FleetFault[] {
  const mix = kinds.filter(() => chance.happens(0.35));
  const drawn = mix.length > 0 ? mix : [chance.pick(kinds)];
  return Array.from({ length: chance.int(1, faultsMax) }, (_, at): FleetFault => {
    const kind = chance.pick(drawn);
    return {
      name: `f${at}`,
      kind,
      atMs: kind === "late" ? 0 : Math.round(faultsMs * chance.next()),
      forMs: Math.round(200 + (longestMs[kind] ?? forMaxMs) * chance.next()),
      edge: chance.int(0, edges - 1),
      pick: chance.int(0, 1_000_000),
    };
  });
}

/** The names of all faults of a plan. */
export function faultNamesOf({ full, faults }: FleetPlan): readonly string[] {
  const ofClusters = full.flatMap(({ episodes }, part) => episodes.flat().map(({ number }) => `${part}.${number}`));
  return [...faults.map(({ name }) => name), ...ofClusters];
}

/** A fault in one line. */
export function nameOfFleetFault({ name, kind, atMs, forMs, edge, pick }: FleetFault): string {
  const at = `${(atMs / 1_000).toFixed(2)} s for ${(forMs / 1_000).toFixed(2)} s`;
  return `${name} ${at}: ${kind} e${edge + 1} (${pick})`;
}

/** Whether an instance serves a cluster, each by its place: neighbours do, so that all have equally many. */
export function doesServe({ edges, serving }: FleetRunId, edge: number, cluster: number): boolean {
  return (edge + edges - (cluster % edges)) % edges < serving;
}

/** The command that repeats a run bit for bit. */
export function fleetCommandOf(id: FleetRunId): string {
  const { seed, edges, clusters, full, nodes, serving, seconds, kinds, kept } = id;
  const few = serving < edges ? ` --serving ${serving}` : "";
  const size = `--fleet ${edges} --clusters ${clusters} --full ${full} --nodes ${nodes}${few}`;
  const some = kinds.length === fleetFaultKinds.length ? "" : ` --kinds ${kinds.join()}`;
  const only = kept === null ? "" : ` --keep ${[...kept].join() || "none"}`;
  return `npm run campaign -- ${size} --seed ${seed} --seconds ${seconds}${some}${only}`;
}
