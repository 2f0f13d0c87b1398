import { sharedDifference } from "../../../core/config/outcome-shape.ts";
import type { StorePhase } from "./fleet-store.ts";
import {
  type ClusterAssignment,
  type FleetMember,
  type FleetView,
  isOwnerKeyOf,
  type MemberDrain,
} from "./fleet-view.ts";
import { ownersOf } from "./ownership-plan.ts";

/** A fleet as one of its members sees it. */
export interface ShownFleet {
  readonly self: string;
  readonly phase: StorePhase["kind"];
  /** Why the fleet is not joined; `null` if it is, or if that is not known. */
  readonly problem: string | null;
  readonly view: FleetView;
  /** The clusters that the member serves -> what its configuration asks of each. */
  readonly served: ReadonlyMap<string, string>;
  readonly assignmentOf: (cluster: string) => ClusterAssignment;
}

/** What a member knows besides of the others and of its own probes. */
export interface FleetSurroundings {
  /** The name of the fleet. */
  readonly name: string;
  /** Address of a member -> the stream from it. */
  readonly streams: ReadonlyMap<string, MemberStream>;
  /** Whether a cluster that is followed is probed here meanwhile. */
  readonly isProbed: (cluster: string) => boolean;
  /** The nodes about which the owners of a cluster disagree: by the addresses of the owners, what each says. */
  readonly disagreementsOf: (
    cluster: string,
  ) => readonly { readonly node: string; readonly sinceMs: number; readonly says: ReadonlyMap<string, string> }[];
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
}

/** The stream of outcomes from another member. */
export interface MemberStream {
  readonly live: boolean;
  /** Why it is not, or why it does not feed a cluster, for one of them; `null` if it does, or if it begins now. */
  readonly problem: string | null;
  /** For how long nothing was heard of it; `null`: it never was. */
  readonly silent_ms: number | null;
}

/** A member as `GET /fleet` shows it. */
interface MemberDocument extends Pick<FleetMember, "id" | "url" | "zone" | "weight" | "version"> {
  readonly draining: MemberDrain | null;
  /** How many clusters it serves, and how many of them it owns. */
  readonly serves: number;
  readonly owns: number;
  /** `null`: it is not followed now. */
  readonly stream: MemberStream | null;
}

/** A fleet without its clusters. */
export interface FleetSummary {
  readonly name: string;
  /** The member that says so. */
  readonly member: string;
  readonly phase: StorePhase["kind"];
  readonly problem: string | null;
  readonly members: readonly MemberDocument[];
}

/** Members that serve a cluster, and share it with each other alone. */
interface MemberGroup {
  /** The first key in which their configuration differs from that of this member; `null`: in none. */
  readonly differs: string | null;
  readonly members: readonly string[];
  readonly owners: readonly string[];
}

/** The most members of a group that are named. */
const namedMax = 100;

/** Describes a fleet without its clusters. @param only a cluster: others do not count; `null`: all */
export function fleetSummary(
  { self, phase, problem, view }: ShownFleet,
  { name, streams }: FleetSurroundings,
  only: string | null,
): FleetSummary {
  const owned = new Map<string, number>();
  for (const [key, id] of view.owners)
    if (only === null || isOwnerKeyOf(key, only)) owned.set(id, (owned.get(id) ?? 0) + 1);
  const members = [...view.members.values()]
    .map(({ id, url, zone, weight, version, serves, clusters }) => ({
      id,
      url,
      zone,
      weight,
      version,
      draining: view.draining.get(id) ?? null,
      serves: only === null ? serves : Number(Object.hasOwn(clusters, only)),
      owns: owned.get(id) ?? 0,
      stream: streams.get(url) ?? null,
    }))
    .filter(({ serves }) => only === null || serves > 0)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { name, member: self, phase, problem, members };
}

/** Describes a fleet and each cluster that the member serves, as JSON in pieces. @param only as {@link fleetSummary} */
export function* fleetPieces(fleet: ShownFleet, about: FleetSurroundings, only: string | null): Generator<string> {
  yield `{"fleet":${JSON.stringify(fleetSummary(fleet, about, only)).slice(0, -1)},"clusters":[`;
  let separator = "";
  const idOf = new Map([...fleet.view.members.values()].map(({ id, url }) => [url, id]));
  for (const [cluster, shape] of fleet.served) {
    if (only !== null && cluster !== only) continue;
    yield separator + JSON.stringify(clusterDocument(fleet, { cluster, shape, idOf }, about));
    separator = ",";
  }
  yield "]}}";
}

interface ServedCluster {
  readonly cluster: string;
  readonly shape: string;
  /** Address of a member -> its name. */
  readonly idOf: ReadonlyMap<string, string>;
}

function clusterDocument(
  { self, view, assignmentOf }: ShownFleet,
  { cluster, shape, idOf }: ServedCluster,
  { isProbed, disagreementsOf, nowMs }: FleetSurroundings,
): object {
  const ownersWith = (ofShape: string): readonly string[] => ownersOf(cluster, ofShape, view).map(({ id }) => id);
  const groups = [...membersByShape(cluster, shape, view)].map(([other, members]): MemberGroup => ({
    differs: sharedDifference(shape, other),
    members: members.length === 0 ? [self] : members.slice(0, namedMax),
    owners: ownersWith(other),
  }));
  const disagreements = disagreementsOf(cluster).map(({ node, sinceMs, says }) => ({
    node,
    for_ms: Math.round(nowMs - sinceMs),
    says: [...says].map(([url, text]) => ({ member: idOf.get(url) ?? url, text })),
  }));
  const assignment = assignmentOf(cluster);
  const isFollowed = assignment.kind === "followed" && !isProbed(cluster);
  return {
    cluster,
    owners: ownersWith(shape),
    does: isFollowed ? "followed" : assignment.kind === "probed" && assignment.isOwned ? "owned" : "probed",
    ...(groups.length > 1 ? { groups } : {}),
    ...(disagreements.length > 0 ? { disagreements } : {}),
  };
}

/** How many of the clusters that a member serves are served by another one that does not share them with it. */
export function unsharedCount({ served, view: { members } }: Pick<ShownFleet, "served" | "view">): number {
  const others = [...members.values()].map(({ clusters }) => clusters);
  const differs = (cluster: string, shape: string): boolean =>
    others.some((shapes) => Object.hasOwn(shapes, cluster) && shapes[cluster] !== shape);
  return [...served].filter(([cluster, shape]) => differs(cluster, shape)).length;
}

/** The members that serve a cluster, by what their configuration asks of it: first those that agree with a shape. */
function membersByShape(cluster: string, shape: string, { members }: FleetView): ReadonlyMap<string, string[]> {
  const byShape = new Map<string, string[]>([[shape, []]]);
  for (const { id, clusters } of members.values()) {
    const other = Object.hasOwn(clusters, cluster) ? clusters[cluster] : undefined;
    if (other === undefined) continue;
    const known = byShape.get(other);
    if (known === undefined) byShape.set(other, [id]);
    else known.push(id);
  }
  return byShape;
}
