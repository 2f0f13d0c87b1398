import { countHeld, type Violation } from "../oracle/scene.ts";
import type { FleetKeys, StoredKey } from "../../../test/fake/fleet-keys.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { EdgeLinks } from "./edge-links.ts";
import { nameOf, type VirtualEdge } from "./virtual-edge.ts";

/** What the promises of a fleet depend on. */
export interface FleetPromisesParts {
  readonly time: Pick<VirtualTime, "nowMs">;
  readonly keys: FleetKeys;
  readonly edges: readonly VirtualEdge[];
  readonly links: EdgeLinks;
  readonly clusters: readonly string[];
  readonly observers: number;
  readonly leaseMs: number;
  readonly armed: Map<string, number>;
  readonly onViolation: (violation: Violation) => void;
}

/** A cluster whose owner is gone is owned again after the lease and this time, in ms. */
const ownedAgainMs = 3_000;
/**
 * How long an instance that reaches the store may take to do what the store says, in ms. To a follower that was cut from
 * the store, an owner that is gone since counts for one more lease: it may come back.
 */
const agreeMs = 2_500;
/** An instance that has just been started has not joined, in ms. */
const joiningMs = 3_000;
/** A member that is drained passes on what it owns within this time, in ms: 20 clusters a second. */
const drainedMs = 3_000;
/** What changes while the store goes down may still be on its way for so long, in ms. */
const onItsWayMs = 3_000;
/** After so long without an event nothing is on its way, in ms. */
const calmMs = 15_000;

/** What an instance did when the store went down. */
interface BeforeDown {
  readonly edge: VirtualEdge;
  readonly membership: VirtualEdge["membership"];
  readonly does: string;
}

/** Judges who owns what, by the store of the fleet and by what each instance does. */
export class FleetPromises {
  readonly #parts: FleetPromisesParts;
  /** Member -> its leases. */
  readonly #leases = new Map<string, Set<string>>();
  /** Cluster -> the keys of its places and who has each. */
  readonly #places = new Map<string, Map<string, string>>();
  /** When something last happened to the fleet, and the time before, in virtual ms. */
  #eventMs = 0;
  #earlierEventMs = 0;
  /** Cluster -> who owned it before the faults. */
  readonly #before = new Map<string, string>();
  /** Member and cluster -> since when it may not own it, in virtual ms. */
  readonly #drainedMs = new Map<string, number>();
  readonly #unownedMs = new Map<string, number>();
  readonly #disagreeMs = new Map<string, number>();
  #downMs: number | null = null;
  #beforeDown: readonly BeforeDown[] | null = null;
  /** From when on nothing may move, in virtual ms. */
  #restMs = Infinity;
  #isSlow = false;

  constructor(parts: FleetPromisesParts) {
    this.#parts = parts;
    parts.keys.onRevision = (key, stored) => this.#revised(key, stored);
  }

  /** Something happens to the fleet, or ends. @param isSlow whether the store is slow from now on */
  happened({ isSlow = this.#isSlow }: { readonly isSlow?: boolean } = {}): void {
    this.#earlierEventMs = this.#eventMs;
    this.#eventMs = this.#parts.time.nowMs;
    this.#isSlow = isSlow;
  }

  /** Nothing may move from an instant on. */
  restFrom(atMs: number): void {
    this.#restMs = atMs;
  }

  /** Who has the places of a cluster. */
  ownersOf(cluster: string): readonly string[] {
    return [...(this.#places.get(cluster)?.values() ?? [])].map(nameOf);
  }

  /** The store has other data: they are read anew. */
  storeReplaced(): void {
    this.#places.clear();
    for (const [key, { value }] of this.#parts.keys.keys) this.#place(key, value);
  }

  /** Keeps who owns what, now that everything is well. */
  keepPlaces(): void {
    for (const cluster of this.#parts.clusters) this.#before.set(cluster, this.#sortedOwners(cluster));
  }

  /** The same members own the same clusters as when they were kept. */
  checkPlaces(): void {
    for (const [cluster, before] of this.#before) {
      const now = this.#sortedOwners(cluster);
      countHeld(this.#parts.armed, "placed");
      if (now !== before) this.#violate("placed", cluster, `${now} has it, and ${before} had it with the same members`);
    }
  }

  tick(): void {
    const { keys, clusters, edges } = this.#parts;
    if (keys.isDown) {
      this.#tickDown();
      return;
    }
    this.#endDown();
    const able = edges.filter((edge) => this.#isAble(edge));
    this.#checkDrained(able);
    for (const cluster of clusters) {
      const serving = able.filter((edge) => edge.serves(cluster));
      this.#checkOwned(cluster, serving);
      for (const edge of serving) this.#checkAgrees(cluster, edge);
    }
  }

  #violate(rule: string, node: string, detail: string): void {
    this.#parts.onViolation({ rule, node, detail });
  }

  #revised(key: string, stored: StoredKey | null): void {
    const { armed, observers, time } = this.#parts;
    const member = /^members\/(.*)$/.exec(key)?.[1];
    if (member !== undefined && stored !== null) {
      const leases = this.#leases.get(member) ?? new Set();
      this.#leases.set(member, leases.add(stored.lease));
    }
    const cluster = this.#place(key, stored?.value ?? null);
    if (cluster === null) return;
    const places = this.#places.get(cluster) ?? new Map<string, string>();
    countHeld(armed, "one-owner");
    if (places.size > observers)
      this.#violate("one-owner", cluster, `${[...places.values()].join(", ")} have it in the order of the store`);
    if (stored !== null && this.#leases.get(stored.value)?.has(stored.lease) !== true)
      this.#violate("one-owner", cluster, `${stored.value} has it under the lease of another member`);
    if (time.nowMs >= this.#restMs) this.#violate("rest", cluster, `${key} becomes ${stored?.value ?? "free"}`);
  }

  /** @returns the cluster of a place; `null`: the key is no place */
  #place(key: string, value: string | null): string | null {
    const [folder, name] = key.split("/");
    if (folder !== "owners" || name === undefined) return null;
    const cluster = decodeURIComponent(name);
    const places = this.#places.get(cluster) ?? new Map<string, string>();
    this.#places.set(cluster, places);
    if (value === null) places.delete(key);
    else places.set(key, value);
    return cluster;
  }

  #isAble(edge: VirtualEdge): boolean {
    const { links, time } = this.#parts;
    if (edge.isDown || edge.isFrozen || links.isCut(edge.name, "store")) return false;
    return time.nowMs - Math.max(edge.startedMs, this.#eventMs) > 0 && edge.membership?.phase.kind === "joined";
  }

  #checkOwned(cluster: string, able: readonly VirtualEdge[]): void {
    const { time, armed, leaseMs } = this.#parts;
    const { nowMs } = time;
    const owners = this.ownersOf(cluster);
    if (able.some(({ name }) => owners.includes(name))) {
      if (this.#unownedMs.delete(cluster)) countHeld(armed, "owned-again");
      return;
    }
    const isPossible = able.some(({ startedMs }) => nowMs - startedMs > joiningMs) && !this.#isSlow;
    const sinceMs = Math.max(this.#unownedMs.get(cluster) ?? nowMs, this.#eventMs);
    this.#unownedMs.set(cluster, isPossible ? sinceMs : nowMs);
    if (isPossible && nowMs - sinceMs > leaseMs + ownedAgainMs)
      this.#violate("owned-again", cluster, `nobody who can probe it has owned it for ${nowMs - sinceMs} ms`);
  }

  #sortedOwners(cluster: string): string {
    return this.ownersOf(cluster).toSorted().join(", ");
  }

  /** A member that is drained owns no cluster that enough others serve. */
  #checkDrained(able: readonly VirtualEdge[]): void {
    const { keys, time, clusters, armed, observers } = this.#parts;
    const { nowMs } = time;
    const isDrained = ({ url }: VirtualEdge): boolean => keys.keys.has(`draining/${new URL(url).host}`);
    const drained = new Set(able.filter(isDrained));
    const others = able.filter((edge) => !drained.has(edge) && nowMs - edge.startedMs > joiningMs);
    for (const edge of able)
      for (const cluster of clusters) {
        const key = `${edge.name} ${cluster}`;
        if (!drained.has(edge) || others.filter((other) => other.serves(cluster)).length < observers) {
          this.#drainedMs.delete(key);
          continue;
        }
        const sinceMs = Math.max(this.#drainedMs.get(key) ?? nowMs, this.#eventMs);
        this.#drainedMs.set(key, sinceMs);
        if (nowMs - sinceMs < drainedMs || this.#isSlow) continue;
        countHeld(armed, "member-drained");
        if (this.ownersOf(cluster).includes(edge.name))
          this.#violate("member-drained", edge.name, `it owns ${cluster} still`);
      }
  }

  /** Who reaches the store does what it says. */
  #checkAgrees(cluster: string, edge: VirtualEdge): void {
    const { time, armed, leaseMs } = this.#parts;
    const { nowMs } = time;
    const key = `${edge.name} ${cluster}`;
    const owners = this.ownersOf(cluster);
    const isOwner = owners.includes(edge.name);
    const assignment = edge.assignmentOf(cluster);
    const does = assignment.kind === "probed" ? assignment.isOwned : false;
    const follows = edge.followed(cluster);
    // The key of a member that is gone stays for as long as its lease.
    const isSame = isOwner
      ? does
      : owners.length === 0 || (assignment.kind === "followed" && follows.every((name) => owners.includes(name)));
    if (isSame) {
      if (this.#disagreeMs.delete(key)) countHeld(armed, "agrees");
      return;
    }
    const sinceMs = Math.max(this.#disagreeMs.get(key) ?? nowMs, this.#eventMs);
    this.#disagreeMs.set(key, sinceMs);
    const hasMore = !isOwner && owners.every((name) => follows.includes(name));
    const mostMs = agreeMs + (hasMore ? leaseMs : 0);
    if (nowMs - sinceMs > mostMs && !this.#isSlow && owners.every((name) => this.#isMember(name)))
      this.#violate("agrees", cluster, `${edge.name} ${what(does, follows)}, and the store says ${owners.join(", ")}`);
  }

  /** Whether an instance is registered: nobody follows one that is not. */
  #isMember(name: string): boolean {
    return [...this.#parts.keys.keys.keys()].some((key) => key.startsWith(`members/${name}:`));
  }

  #tickDown(): void {
    const { time, edges, armed } = this.#parts;
    this.#downMs ??= time.nowMs;
    const isCalm = this.#downMs - this.#earlierEventMs > calmMs;
    if (!isCalm && time.nowMs - this.#downMs < onItsWayMs) return;
    this.#beforeDown ??= edges
      .filter((edge) => !edge.isDown && !edge.isFrozen)
      .map((edge) => ({ edge, membership: edge.membership, does: this.#doings(edge) }));
    for (const { edge, membership, does } of this.#beforeDown) {
      if (edge.membership !== membership || membership === null) continue;
      countHeld(armed, "store-down");
      if (this.#doings(edge) !== does)
        this.#violate("store-down", edge.name, "what it does with a cluster has changed while the store is down");
    }
  }

  /** What an instance does with each cluster, and how often that has changed. */
  #doings(edge: VirtualEdge): string {
    const served = this.#parts.clusters.filter((cluster) => edge.serves(cluster));
    const each = served.map((cluster) => {
      const assignment = edge.assignmentOf(cluster);
      return assignment.kind === "probed" ? assignment.isOwned : edge.followed(cluster);
    });
    return JSON.stringify([each, edge.membership?.changes]);
  }

  #endDown(): void {
    if (this.#downMs === null) return;
    this.#downMs = null;
    this.#beforeDown = null;
    this.happened();
  }
}

function what(does: boolean, follows: readonly string[]): string {
  if (does) return "owns it";
  return follows.length === 0 ? "probes it" : `follows ${follows.join(", ")}`;
}
