import { isDeepStrictEqual } from "node:util";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { ClaimedKey, FleetStore, StorePhase } from "./fleet-store.ts";
import {
  fleetPieces,
  type FleetSummary,
  fleetSummary,
  type FleetSurroundings,
  type ShownFleet,
  unsharedCount,
} from "./fleet-document.ts";
import {
  type ClusterAssignment,
  drainingKey,
  isDrainingKey,
  type FleetMember,
  FleetReader,
  type FleetView,
  memberKey,
  type MemberDrain,
  memberRecord,
  holdKey,
  runKey,
} from "./fleet-view.ts";
import { type OwnershipStep, ownersOf, planOwnership } from "./ownership-plan.ts";

/** This member, without what changes. */
export type OwnMember = Omit<FleetMember, "lease" | "observers" | "clusters" | "serves">;

/** A drain of a member that begins, or ends: then there is none. */
export interface MemberDrainChange {
  readonly member: string;
  readonly drain: MemberDrain | null;
  /** Who asked for it; `null` if nobody has said so. */
  readonly by: string | null;
}

/** What a membership depends on. */
export interface FleetMembershipContext {
  readonly store: FleetStore;
  readonly self: OwnMember;
  /** How long a member may show no sign of life, in ms. */
  readonly leaseMs: number;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** What this member does with some cluster has changed. */
  readonly onAssigned: () => void;
  readonly onPhase: (phase: StorePhase) => void;
  /** All members and owners are known, after it has joined. */
  readonly onKnown: () => void;
  /** Another instance has registered itself in the name of this one, which leaves. */
  readonly onDisplaced: () => void;
  /** A drain of a member has begun or ended, at the request of an operator. */
  readonly onDrain: (change: MemberDrainChange) => void;
  /** An internal error. */
  readonly onError: (error: unknown) => void;
}

/** What a member serves. */
export interface ServedClusters {
  /** Cluster -> what its configuration asks of it. */
  readonly clusters: ReadonlyMap<string, string>;
  /** How many members are to own each cluster. */
  readonly observers: number;
}

/** Changes that come together are looked at together: within this time, in ms. */
const gatherMs = 20;
/** For how long it is remembered when a key came or went, in ms: longer than a turn, and until a member is settled. */
const rememberedMs = 60_000;
/** How many changes are written at the same time, and when to look again after that, in ms. */
const writesMax = 8;
const writtenMs = 250;

/**
 * This member of a fleet: it registers itself, takes and passes on clusters, and knows whom to follow. While the store
 * cannot be reached, everything stays as it is.
 */
export class FleetMembership {
  readonly #context: FleetMembershipContext;
  readonly #entries = new Map<string, string>();
  readonly #view = new FleetReader();
  /** Keys that were there before the connection was lost, and are not there again -> until when they count all the same. */
  readonly #awaited = new Map<string, number>();
  /** When a key came, or went, as far as this member has seen. */
  readonly #changedAtMs = new Map<string, number>();
  readonly #assignments = new Map<string, ClusterAssignment>();
  #served: ServedClusters = { clusters: new Map(), observers: 1 };
  #phase: StorePhase = { kind: "joining" };
  /** When all keys were read for the first time. */
  #knownSinceMs = Infinity;
  readonly #changes = { gained: 0, lost: 0 };
  /** When this member's key may be written again, if it is missing. */
  #registerAtMs = 0;
  #isWriting = false;
  /** `displaced`: another instance has taken its name, and it has left. */
  #place: "own" | "displaced" = "own";
  #cancelLook: CancelTimer | null = null;
  #lookAtMs = Infinity;

  constructor(context: FleetMembershipContext) {
    this.#context = context;
  }

  get phase(): StorePhase {
    return this.#phase;
  }

  get view(): FleetView {
    return this.#view;
  }

  /**
   * Why this instance is no member, or no longer, or cannot write; `null` if nothing is wrong, or it has just begun to
   * join.
   */
  get problem(): string | null {
    if (this.#place === "displaced") return "another instance advertises the same address";
    return "problem" in this.#phase ? this.#phase.problem : null;
  }

  /** How many clusters it owns. */
  get owned(): number {
    return [...this.#assignments.values()].filter((assignment) => isOwnedBy(assignment)).length;
  }

  /** How often it has become the owner of a cluster, and how often it has ceased to be one. */
  get changes(): { readonly gained: number; readonly lost: number } {
    return this.#changes;
  }

  /** How many clusters it does not share with every member that serves them. */
  get unshared(): number {
    return unsharedCount(this.#shown);
  }

  /** Describes the fleet without its clusters, as {@link fleetSummary}. */
  summary(about: FleetSurroundings, only: string | null): FleetSummary {
    return fleetSummary(this.#shown, about, only);
  }

  /** Describes the fleet as JSON in pieces, as {@link fleetPieces}. */
  pieces(about: FleetSurroundings, only: string | null): Iterable<string> {
    return fleetPieces(this.#shown, about, only);
  }

  /** What this member does with a cluster. */
  assignmentOf(cluster: string): ClusterAssignment {
    return this.#assignments.get(cluster) ?? { kind: "probed", isOwned: false, otherOwners: [] };
  }

  /** The clusters that it owns with others, and the others. */
  get sharedOwnerships(): readonly (readonly [cluster: string, otherOwners: readonly FleetMember[]])[] {
    return [...this.#assignments].flatMap(([cluster, assignment]) =>
      assignment.kind === "probed" && assignment.otherOwners.length > 0
        ? [[cluster, assignment.otherOwners] as const]
        : [],
    );
  }

  /** Serves these clusters from now on. */
  serve(served: ServedClusters): void {
    const isSame = isDeepStrictEqual(served, this.#served);
    this.#served = served;
    for (const cluster of this.#assignments.keys())
      if (!served.clusters.has(cluster)) this.#assignments.delete(cluster);
    if (this.#phase.kind === "joined" && !isSame) this.#context.store.registerAgain();
    this.#assign();
    this.#lookIn(gatherMs);
  }

  start(): void {
    const { store, self, onPhase } = this.#context;
    const record = (lease: string): string => {
      const { clusters, observers } = this.#served;
      return memberRecord({ ...self, lease, observers, clusters: Object.fromEntries(clusters) });
    };
    store.start(
      { key: memberKey(self.id), value: record },
      {
        onPhase: (phase) => {
          this.#phase = phase;
          onPhase(phase);
          this.#lookIn(gatherMs);
        },
        onAll: (entries) => this.#takeAll(entries),
        onChange: (key, value) => {
          this.#awaited.delete(key);
          this.#take(key, value);
          this.#lookIn(gatherMs);
        },
      },
    );
  }

  /** Keeps a member from owning clusters for some time. @param forS in s @throws Error if it cannot be written */
  async drain(id: string, drain: MemberDrain, forS: number): Promise<void> {
    const value = JSON.stringify(drain);
    await this.#context.store.putFor(drainingKey(id), value, forS);
    this.#take(drainingKey(id), value);
    this.#context.onDrain({ member: id, drain, by: drain.by });
    this.#lookIn(gatherMs);
  }

  /** Lets a member own clusters again. @throws Error if it cannot be written */
  async undrain(id: string, by: string | null): Promise<void> {
    await this.#context.store.remove(drainingKey(id));
    this.#take(drainingKey(id), null);
    this.#context.onDrain({ member: id, drain: null, by });
    this.#lookIn(gatherMs);
  }

  /**
   * Asks for the right to run a switchover of a cluster: one member of the fleet has it at a time.
   * @param lifeS how long it lasts, unless it is given back, in s
   * @throws Error if the store does not say who has it
   */
  claimRun(cluster: string, value: string, lifeS: number): Promise<ClaimedKey> {
    return this.#context.store.claimFor(runKey(cluster), value, lifeS);
  }

  /** Gives the right back, if this value has it. */
  async releaseRun(cluster: string, value: string): Promise<void> {
    await this.#context.store.release(runKey(cluster), value);
  }

  /** Takes the right to hold the clients of a cluster after a loss: while this member lives, or until it gives it back. */
  claimHold(cluster: string, value: string): Promise<string> {
    return this.#context.store.claimOrRead(holdKey(cluster), value);
  }

  /** Gives the right back, if this value has it. */
  async releaseHold(cluster: string, value: string): Promise<void> {
    await this.#context.store.release(holdKey(cluster), value);
  }

  /** Leaves the fleet, so that others take its clusters at once. */
  async stop(): Promise<void> {
    this.#cancelLook?.();
    await this.#context.store.stop();
  }

  get #shown(): ShownFleet {
    return {
      self: this.#context.self.id,
      phase: this.#phase.kind,
      problem: this.problem,
      view: this.#view,
      served: this.#served.clusters,
      assignmentOf: (cluster) => this.assignmentOf(cluster),
    };
  }

  /**
   * What is missing counts for one more lease: members that lost the connection too may come back. A drain that is
   * missing has ended: members that differ about it would pass clusters to and fro.
   */
  #takeAll(entries: ReadonlyMap<string, string>): void {
    const { now, self, leaseMs } = this.#context;
    for (const [key, value] of this.#entries) {
      if (entries.has(key)) continue;
      // What belonged to this member is claimed again.
      if (value === self.id || isDrainingKey(key)) this.#take(key, null);
      else if (!this.#awaited.has(key)) this.#awaited.set(key, now() + leaseMs);
    }
    for (const [key, value] of entries) {
      this.#awaited.delete(key);
      this.#take(key, value);
    }
    this.#knownSinceMs = Math.min(this.#knownSinceMs, now());
    this.#look();
    this.#context.onKnown();
  }

  #take(key: string, value: string | null): void {
    if (this.#entries.get(key) === value) return;
    if (this.#entries.has(key) !== (value !== null)) this.#changedAtMs.set(key, this.#context.now());
    if (value === null) this.#entries.delete(key);
    else this.#entries.set(key, value);
    this.#view.take(key, value);
  }

  #lookIn(delayMs: number): void {
    const { now, setTimer } = this.#context;
    const atMs = now() + delayMs;
    if (this.#phase.kind === "stopped" || atMs >= this.#lookAtMs) return;
    this.#cancelLook?.();
    this.#lookAtMs = atMs;
    this.#cancelLook = setTimer(() => this.#look(), Math.ceil(delayMs));
  }

  #look(): void {
    this.#cancelLook?.();
    this.#lookAtMs = Infinity;
    const { self, now, store, onDisplaced } = this.#context;
    const nowMs = now();
    for (const [key, untilMs] of this.#awaited) {
      if (nowMs < untilMs) continue;
      this.#awaited.delete(key);
      this.#take(key, null);
    }
    for (const [key, atMs] of this.#changedAtMs) if (nowMs - atMs > rememberedMs) this.#changedAtMs.delete(key);
    const registered = this.#view.members.get(self.id);
    if (this.#phase.kind === "joined" && registered !== undefined && registered.instance !== self.instance) {
      this.#place = "displaced";
      onDisplaced();
      void store.stop();
      return;
    }
    this.#registerIfMissing(nowMs);
    this.#assign();
    void this.#write();
    const awaitedMs = Math.min(Infinity, ...this.#awaited.values());
    if (awaitedMs < Infinity) this.#lookIn(awaitedMs - nowMs);
  }

  /** Writes this member's key again, once a lease at most, if somebody has deleted or damaged it. */
  #registerIfMissing(nowMs: number): void {
    const { self, leaseMs, store } = this.#context;
    if (this.#phase.kind !== "joined" || this.#view.members.has(self.id)) return;
    if (nowMs >= this.#registerAtMs) {
      this.#registerAtMs = nowMs + leaseMs;
      store.registerAgain();
    }
    this.#lookIn(this.#registerAtMs - nowMs);
  }

  /** Decides what this member does with each cluster. What nobody owns is followed, or probed, as before. */
  #assign(): void {
    let isChanged = false;
    for (const [cluster, shape] of this.#served.clusters) {
      const before = this.#assignments.get(cluster);
      const owners = ownersOf(cluster, shape, this.#view);
      if (owners.length === 0) continue;
      const otherOwners = owners.filter(({ id }) => id !== this.#context.self.id);
      const isOwned = otherOwners.length < owners.length;
      const next: ClusterAssignment = isOwned ? { kind: "probed", isOwned, otherOwners } : { kind: "followed", owners };
      if (before !== undefined && isSameAssignment(before, next)) continue;
      if (isOwned !== isOwnedBy(before)) this.#changes[isOwned ? "gained" : "lost"] += 1;
      this.#assignments.set(cluster, next);
      isChanged = true;
    }
    if (isChanged) this.#context.onAssigned();
  }

  async #write(): Promise<void> {
    const { now, self, onError } = this.#context;
    if (this.#isWriting || !this.#canWrite || this.#knownSinceMs === Infinity) return;
    // While its key is missing, this member would pass on all that it owns.
    if (!this.#view.members.has(self.id)) return;
    const changedAtMs = (key: string): number => this.#changedAtMs.get(key) ?? this.#knownSinceMs;
    const { steps, againMs } = planOwnership({
      ...this.#served,
      self: self.id,
      view: this.#view,
      nowMs: now(),
      memberSinceMs: (id) => changedAtMs(memberKey(id)),
      placeSinceMs: changedAtMs,
      hasOwned: (cluster) => isOwnedBy(this.#assignments.get(cluster)),
    });
    if (againMs < Infinity) this.#lookIn(againMs - now());
    if (steps.length === 0) return;
    this.#isWriting = true;
    try {
      for (let at = 0; at < steps.length && this.#canWrite; at += writesMax)
        await Promise.all(steps.slice(at, at + writesMax).map((step) => this.#writeStep(step)));
    } catch (error) {
      onError(error);
    } finally {
      this.#isWriting = false;
    }
    // What was refused comes as a change; what failed is tried again.
    this.#lookIn(writtenMs);
  }

  /** While etcd refuses what is written, the store alone tries again. */
  get #canWrite(): boolean {
    return this.#phase.kind === "joined" && this.#phase.problem === null;
  }

  /** Writes one step. Only the watch reports its result: a reply can arrive after a later change of the same key. */
  async #writeStep(step: OwnershipStep): Promise<void> {
    const { store, self } = this.#context;
    const { key } = step;
    if (step.kind === "claim") await store.claim(key, self.id);
    else if (step.kind === "pass") await store.pass(key, step.from, { value: step.to.id, lease: step.to.lease });
    else await store.release(key, self.id);
  }
}

function isOwnedBy(assignment: ClusterAssignment | undefined): boolean {
  return assignment?.kind === "probed" && assignment.isOwned;
}

function isSameAssignment(one: ClusterAssignment, other: ClusterAssignment): boolean {
  return (
    one.kind === other.kind && isOwnedBy(one) === isOwnedBy(other) && isDeepStrictEqual(urlsOf(one), urlsOf(other))
  );
}

/** The other members that own a cluster. */
function urlsOf(assignment: ClusterAssignment): readonly string[] {
  return (assignment.kind === "probed" ? assignment.otherOwners : assignment.owners).map(({ url }) => url);
}
