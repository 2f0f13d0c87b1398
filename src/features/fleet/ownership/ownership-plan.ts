import { type FleetMember, type FleetView, ownerKey, type Place } from "./fleet-view.ts";
import { scoreOf } from "./rendezvous.ts";

/** A change of an owner that this member may write, if what it is based on still holds. */
export type OwnershipStep =
  | { readonly kind: "claim"; readonly key: string }
  /** From one member to one that should have it, without a gap. */
  | { readonly kind: "pass"; readonly key: string; readonly from: string; readonly to: FleetMember }
  | { readonly kind: "release"; readonly key: string };

/** What a plan is made from. */
export interface OwnershipInputs {
  readonly self: string;
  /** The clusters that this member serves -> what its configuration asks of each. */
  readonly clusters: ReadonlyMap<string, string>;
  /** How many members are to own each cluster. */
  readonly observers: number;
  readonly view: FleetView;
  readonly nowMs: number;
  /**
   * Since when a member is registered or gone, and a place taken or free, as far as this member has seen, in ms of
   * rolecall's clock.
   */
  readonly memberSinceMs: (id: string) => number;
  readonly placeSinceMs: (key: string) => number;
  /** Whether this member has owned a cluster, and not followed another owner since. */
  readonly hasOwned: (cluster: string) => boolean;
}

/** What is to be written now, and when to look again, in ms of rolecall's clock. */
export interface OwnershipPlan {
  readonly steps: readonly OwnershipStep[];
  readonly againMs: number;
}

/** The second in line takes a free place after this time, in ms, if the first does not, and so on. */
const turnMs = 1_000;
/** A member is given clusters of others once it has been registered for so long, in ms: one that restarts moves none. */
const settleMs = 10_000;
/** How many clusters are passed on at once, and after how many ms the next ones follow. */
const passing = { most: 20, gapMs: 1_000 } as const;

/** What this member should write, so that each cluster has its owners. Pure. */
export function planOwnership(inputs: OwnershipInputs): OwnershipPlan {
  const steps: OwnershipStep[] = leftPlaces(inputs);
  let againMs = Infinity;
  let passed = 0;
  for (const [cluster, shape] of inputs.clusters) {
    let line: readonly FleetMember[] | null = null;
    const taken: string[] = [];
    for (let slot = 0; slot < inputs.observers; slot += 1) {
      const place = { cluster, shape, slot };
      const owners = taken.flatMap((id) => inputs.view.members.get(id) ?? []);
      // Most places belong to others: then nobody has to know who comes next.
      const inOrder = (): readonly FleetMember[] => {
        line ??= lineFor(cluster, shape, inputs.view);
        return orderFor(
          line.filter(({ observers }) => observers > slot),
          owners,
        );
      };
      const { owner, ...next } = nextForPlace(inputs, place, inOrder);
      if (owner !== null) taken.push(owner);
      if (next.step?.kind === "pass") passed += 1;
      if (next.step?.kind === "pass" && passed > passing.most)
        againMs = Math.min(againMs, inputs.nowMs + passing.gapMs);
      else if (next.step !== null) steps.push(next.step);
      againMs = Math.min(againMs, next.againMs);
    }
  }
  return { steps, againMs };
}

/** Places of clusters that this member no longer serves. */
function leftPlaces({ self, clusters, observers, view }: OwnershipInputs): OwnershipStep[] {
  const wanted = new Set<string>();
  for (const [cluster, shape] of clusters)
    for (let slot = 0; slot < observers; slot += 1) wanted.add(ownerKey({ cluster, shape, slot }));
  return [...view.owners].flatMap(([key, owner]) =>
    owner === self && !wanted.has(key) ? [{ kind: "release" as const, key }] : [],
  );
}

interface NextForPlace {
  readonly step: OwnershipStep | null;
  readonly againMs: number;
  /** The member that has the place; `null`: nobody. */
  readonly owner: string | null;
}

function nextForPlace(
  { self, view, nowMs, memberSinceMs, placeSinceMs, hasOwned }: OwnershipInputs,
  place: Place,
  inOrder: () => readonly FleetMember[],
): NextForPlace {
  const key = ownerKey(place);
  const owner = view.owners.get(key) ?? null;
  const nothing = { step: null, againMs: Infinity, owner };
  if (owner === null) {
    const at = inOrder().findIndex(({ id }) => id === self);
    if (at < 0) return nothing;
    // Who probes it already goes on.
    const turnAtMs = placeSinceMs(key) + (hasOwned(place.cluster) ? 0 : at * turnMs);
    return nowMs < turnAtMs ? { ...nothing, againMs: turnAtMs } : { ...nothing, step: { kind: "claim", key } };
  }
  const passAt = (atMs: number, to: FleetMember): NextForPlace =>
    nowMs < atMs ? { ...nothing, againMs: atMs } : { ...nothing, step: { kind: "pass", key, from: owner, to } };
  if (!view.members.has(owner)) {
    // A key that does not end with the lease of its member: it was copied from another etcd, or written by hand.
    const at = inOrder().findIndex(({ id }) => id === self);
    const to = inOrder()[at];
    const leftMs = Math.max(placeSinceMs(key), memberSinceMs(owner));
    return to === undefined ? nothing : passAt(leftMs + settleMs + at * turnMs, to);
  }
  if (owner !== self) return nothing;
  const [to] = inOrder();
  if (to === undefined || to.id === self) return nothing;
  return passAt(view.draining.has(self) ? nowMs : memberSinceMs(to.id) + settleMs, to);
}

/** The members that may own a cluster, the first first. Members that are drained come in only if all are. */
function lineFor(cluster: string, shape: string, { members, draining }: FleetView): readonly FleetMember[] {
  const able = [...members.values()].filter(({ clusters }) => clusters[cluster] === shape);
  const present = able.filter(({ id }) => !draining.has(id));
  return (present.length > 0 ? present : able)
    .map((member) => ({ member, score: scoreOf(cluster, member) }))
    .toSorted((one, other) => other.score - one.score || (one.member.id < other.member.id ? -1 : 1))
    .map(({ member }) => member);
}

/** The same without those that own the cluster already; those of other zones first. */
function orderFor(line: readonly FleetMember[], owners: readonly FleetMember[]): readonly FleetMember[] {
  const zones = new Set(owners.map(({ zone }) => zone));
  const others = line.filter(({ id }) => owners.every((owner) => owner.id !== id));
  return [...others.filter(({ zone }) => !zones.has(zone)), ...others.filter(({ zone }) => zones.has(zone))];
}

/** The members that own a cluster now: whom the others follow. */
export function ownersOf(cluster: string, shape: string, { members, owners }: FleetView): readonly FleetMember[] {
  const ids = [0, 1].map((slot) => owners.get(ownerKey({ cluster, shape, slot })));
  return [...new Set(ids)].flatMap((id) => (id === undefined ? [] : (members.get(id) ?? [])));
}
