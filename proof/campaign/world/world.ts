import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import { loop } from "./loop.ts";
import type { Mode } from "./mode.ts";
import { isManaging, isServing, type ModelNode, modelNode, positionOf } from "./node.ts";
import { chooseStandbys } from "./sync.ts";
import { flow } from "./wal.ts";

/** A node's own record in the DCS, as its last loop wrote it. */
export interface MemberRecord {
  readonly name: string;
  readonly state: string;
  readonly role: "primary" | "replica";
  readonly timeline: number;
  readonly position: number;
  readonly received: number;
  readonly replayed: number;
  readonly isStreaming: boolean;
  readonly apiUrl: string;
  readonly writtenMs: number;
}

/** The DCS of one cluster: the truth about the lock. */
export interface Dcs {
  isDown: boolean;
  /** Nodes that cannot reach it. */
  readonly cut: Set<string>;
  lock: { readonly holder: string; readonly untilMs: number } | null;
  isPaused: boolean;
  hasFailsafe: boolean;
  /** The candidate of a switchover in progress. */
  switchover: string | null;
  readonly members: Map<string, MemberRecord>;
  /** The key `/sync`: the leader that wrote it, and its synchronous standbys. */
  sync: { readonly leader: string; readonly standbys: ReadonlySet<string> } | null;
}

/** Where a timeline ended, and which node started the next one. */
export interface Fork {
  readonly timeline: number;
  readonly position: number;
  readonly by: string;
  readonly at: string;
  /** Which WAL of that timeline the next one continues. */
  readonly branch: number;
}

/** What a cluster is made with. */
export interface WorldOptions {
  readonly scope: string;
  readonly system: string;
  readonly profile: Profile;
  readonly chance: Chance;
  /** The nodes' loopback addresses: as many nodes. */
  readonly hosts: readonly string[];
  readonly generation: 3 | 4;
  readonly nowMs: number;
  /** Wall time at the instant 0, in ms since the epoch. */
  readonly epochMs: number;
  readonly mode?: Mode;
}

/** The position at which each modelled cluster begins. */
const startLsn = 83_886_216;

/** One modelled cluster with its own truth. `tick` advances it; faults change its fields. */
export class World {
  readonly dcs: Dcs = {
    isDown: false,
    cut: new Set(),
    lock: null,
    isPaused: false,
    hasFailsafe: false,
    switchover: null,
    members: new Map(),
    sync: null,
  };
  readonly mode: Mode;
  /** Whether it is a standby cluster: one that was promoted no longer is. */
  isStandby: boolean;
  /** The primary elsewhere that a standby cluster replicates from. */
  readonly remote: ModelNode | null;
  readonly forks: Fork[] = [];
  readonly nodes: readonly ModelNode[];
  /** Which WAL the newest timeline has: each promotion begins other WAL. */
  branch = 0;
  /** The replica that gets the lock next although it does not know the newest timeline, and begins another such one. */
  repeater: string | null = null;
  /** Whether two timelines had the same number: a number does not tell which WAL a node has. */
  hasRepeated = false;
  /** Whether an operator copies a replica anew that can never follow its leader. */
  isTended = false;
  /** Bytes of WAL per second. */
  walRate = 200_000;
  /** Since when the current holder has held the lock continuously; null without a holder. */
  holding: { readonly name: string; readonly sinceMs: number } | null = null;
  #lastMs: number;
  #branches = 0;
  readonly #byName: ReadonlyMap<string, ModelNode>;

  readonly scope: string;
  readonly system: string;
  readonly profile: Profile;
  readonly chance: Chance;
  readonly #epochMs: number;

  constructor(options: WorldOptions) {
    this.scope = options.scope;
    this.system = options.system;
    this.profile = options.profile;
    this.chance = options.chance;
    this.#epochMs = options.epochMs;
    this.nodes = options.hosts.map((host, index) => modelNode(`pg${index + 1}`, host, options.generation));
    this.mode = options.mode ?? "plain";
    this.isStandby = this.mode === "standby";
    this.remote = this.isStandby ? modelNode("remote", "127.0.99.1", options.generation) : null;
    const all = this.remote === null ? this.nodes : [...this.nodes, this.remote];
    this.#byName = new Map(all.map((node) => [node.name, node]));
    this.#lastMs = options.nowMs;
    this.#begin(options.nowMs);
  }

  /** Wall time at an instant, in ms since the epoch. */
  wallMs(nowMs: number): number {
    return this.#epochMs + nowMs;
  }

  /** The instant up to which it has advanced, in ms. */
  get nowMs(): number {
    return this.#lastMs;
  }

  /** The node of a name that must exist. */
  node(name: string): ModelNode {
    const found = this.#byName.get(name);
    if (found === undefined) throw new Error(`Cannot find node: name must be one of the cluster's, got ${name}`);
    return found;
  }

  /** The holder of a lock that has not expired. */
  holder(nowMs: number): string | null {
    const { lock } = this.dcs;
    return lock !== null && lock.untilMs > nowMs ? lock.holder : null;
  }

  /** Lets a node take the lock, or keep it. */
  take(node: ModelNode, nowMs: number): void {
    node.seesLock = true;
    node.leaseUntilMs = nowMs + this.profile.ttlMs;
    this.dcs.lock = { holder: node.name, untilMs: node.leaseUntilMs };
  }

  /** Whether a node leads the cluster: its primary, or the leader of the standby cluster. */
  leads(node: ModelNode): boolean {
    return node.role === "primary" || (this.isStandby && node.leadsStandby);
  }

  /** Whether a node reaches the DCS. */
  reaches(node: ModelNode): boolean {
    return !this.dcs.isDown && !this.dcs.cut.has(node.name);
  }

  /** The newest timeline of the cluster. */
  get timeline(): number {
    return (this.forks.at(-1)?.timeline ?? 0) + 1;
  }

  /** Where the first timeline begins here. */
  get startsAt(): number {
    return startLsn;
  }

  /** When the newest timeline began. */
  get timelineSinceMs(): number {
    const fork = this.forks.at(-1);
    return fork === undefined ? -Infinity : Date.parse(fork.at) - this.#epochMs;
  }

  /**
   * The divergence point of a node's timeline and its successors up to another: the lowest switch point.
   * Infinite where none diverged.
   */
  switchPoint(from: number, to: number): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { timeline, position } of this.forks)
      if (timeline >= from && timeline < to && position < lowest) lowest = position;
    return lowest;
  }

  /** Advances everything to an instant. */
  tick(nowMs: number): void {
    const elapsedMs = Math.min(nowMs - this.#lastMs, 200);
    this.#lastMs = nowMs;
    for (const node of this.nodes) {
      if (!node.isUp || node.isHalted) continue;
      if (node.transition !== null && node.transition.atMs <= nowMs) {
        const { next } = node.transition;
        node.transition = null;
        next();
      }
      if (isManaging(node) && node.nextLoopMs <= nowMs) {
        node.nextLoopMs = nowMs + this.profile.loopMs * (0.9 + 0.2 * this.chance.next());
        loop(this, node, nowMs);
      }
      if (node.promoteAtMs !== null && node.promoteAtMs <= nowMs && isServing(node)) this.#promote(node, nowMs);
    }
    flow(this, (this.walRate * elapsedMs) / 1_000);
    const holder = this.holder(nowMs);
    if (holder === null) this.holding = null;
    else if (this.holding?.name !== holder) this.holding = { name: holder, sinceMs: nowMs };
  }

  /**
   * Sets a primary back on its timeline, as to a snapshot of its storage: what it writes from there on is other WAL than
   * what replicas have that are past it.
   */
  setBack(primary: ModelNode, position: number): void {
    const { timeline, branch } = primary;
    this.#branches += 1;
    this.branch = this.#branches;
    this.hasRepeated = true;
    Object.assign(primary, { written: position, flushed: position, branch: this.branch });
    for (const node of this.nodes) {
      const isBehind = node.role === "replica" && positionOf(node) <= position;
      if (isBehind && node.timeline === timeline && node.branch === branch) node.branch = this.branch;
    }
  }

  #promote(node: ModelNode, nowMs: number): void {
    node.promoteAtMs = null;
    const holder = this.holder(nowMs);
    // It looks at the key once more: another node may have taken a lock that was lost meanwhile.
    if (holder !== null && holder !== node.name) node.leaseUntilMs = 0;
    if (node.role === "primary" || node.leaseUntilMs <= nowMs) return;
    const position = Math.max(node.received, node.replayed);
    // A repeater does not know that another node has begun the next timeline before. Its own timeline ended then.
    const isRepeated = this.repeater === node.name && node.timeline < this.timeline;
    const at = (isRepeated ? this.forks.pop()?.at : null) ?? this.#timeText(nowMs);
    this.repeater = null;
    this.hasRepeated ||= isRepeated;
    this.forks.push({ timeline: this.timeline, position, by: node.name, at, branch: node.branch });
    this.#branches += 1;
    this.branch = this.#branches;
    node.role = "primary";
    node.timeline = this.timeline;
    node.branch = this.branch;
    node.shownTimeline = node.timeline;
    node.written = position + 128;
    node.flushed = node.written;
    node.isFlushing = true;
    node.upstream = null;
    node.isStreaming = false;
    node.isReplayPaused = false;
    node.leadsStandby = false;
  }

  #timeText(nowMs: number): string {
    return new Date(this.wallMs(nowMs)).toISOString().replace("Z", "+00:00");
  }

  #begin(nowMs: number): void {
    const [leader, ...others] = this.nodes;
    if (leader === undefined) return;
    const start = startLsn;
    Object.assign(this.remote ?? leader, { role: "primary", written: start, flushed: start });
    if (this.remote !== null) {
      const following = { received: start, replayed: start, upstream: this.remote.name, isStreaming: true };
      Object.assign(leader, { ...following, leadsStandby: true });
    }
    this.take(leader, nowMs);
    for (const node of others)
      Object.assign(node, { received: start, replayed: start, upstream: leader.name, isStreaming: true });
    chooseStandbys(this, leader, nowMs);
    for (const node of this.nodes) node.nextLoopMs = nowMs;
  }
}
