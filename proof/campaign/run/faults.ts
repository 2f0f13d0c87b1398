import { crash } from "../world/crash.ts";
import { claims, statusDocument } from "../world/documents.ts";
import { isServing, type ModelNode, positionOf } from "../world/node.ts";
import type { Kind, Mask, WireFault } from "../wire/mask.ts";
import type { Seat } from "../wire/seat.ts";
import { syncMax } from "../world/mode.ts";
import { isFedBy } from "../world/wal.ts";
import type { World } from "../world/world.ts";
import type { ModelCluster } from "./model-cluster.ts";
import type { Fault, FaultKind } from "./scenario.ts";

/** Ends a fault. */
export type Undo = () => void;

const nothing: Undo = () => undefined;

/** What a fault is begun with. */
interface Place {
  readonly cluster: ModelCluster;
  readonly fault: Fault;
  readonly seat: Seat;
  readonly node: ModelNode;
  readonly other: ModelNode;
  readonly nowMs: number;
}

/** Starts a fault, and returns how to end it. An inapplicable fault (no leader to target) does nothing. */
export function begin(cluster: ModelCluster, fault: Fault, nowMs: number): Undo {
  const { world, seats } = cluster;
  const holder = world.holder(nowMs);
  const seat = fault.target === "leader" ? seats.find(({ node }) => node.name === holder) : seats[fault.target];
  const other = world.nodes[fault.other];
  if (seat === undefined || other === undefined) return nothing;
  return beginnings[fault.kind]({ cluster, fault, seat, node: seat.node, other, nowMs });
}

const beginnings: Readonly<Record<FaultKind, (place: Place) => Undo>> = {
  kill({ node }) {
    node.isUp = false;
    node.leaseUntilMs = 0;
    return () => revive(node);
  },
  halt({ node }) {
    node.isHalted = true;
    return () => void (node.isHalted = false);
  },
  freezeManager({ node }) {
    node.isManagerFrozen = true;
    return () => void Object.assign(node, { isManagerFrozen: false, nextLoopMs: 0 });
  },
  detach: ({ node, nowMs }) => receiver(node, "dead", nowMs),
  freezeReceiver: ({ node, nowMs }) => receiver(node, "frozen", nowMs),
  pauseReplay({ node }) {
    if (node.role === "replica") node.isReplayPaused = true;
    return () => void (node.isReplayPaused = false);
  },
  cascade({ cluster: { world }, node, other }) {
    if (node.role === "replica" && other.role === "replica" && other !== node && !isFedBy(world, other, node))
      node.upstream = other.name;
    return nothing;
  },
  keepHistory({ node }) {
    node.rewinds = false;
    return () => void (node.rewinds = true);
  },
  failsafe({ cluster: { world } }) {
    Object.assign(world.dcs, { hasFailsafe: true, isDown: true });
    return () => void (world.dcs.isDown = false);
  },
  dcsDown({ cluster: { world } }) {
    world.dcs.isDown = true;
    return () => void (world.dcs.isDown = false);
  },
  dcsCut({ cluster: { world }, node }) {
    world.dcs.cut.add(node.name);
    return () => void world.dcs.cut.delete(node.name);
  },
  pause({ cluster: { world } }) {
    world.dcs.isPaused = true;
    return () => void (world.dcs.isPaused = false);
  },
  switchover({ cluster: { world }, other }) {
    switchTo(world, other);
    return () => void (world.dcs.switchover = null);
  },
  /** An operator moves the leader away, for a restart of its machine, and back. */
  switchback({ cluster: { world }, other, nowMs }) {
    const first = world.nodes.find(({ name }) => name === world.holder(nowMs));
    switchTo(world, other);
    return () => {
      if (first !== undefined && world.holding?.name === other.name) switchTo(world, first);
    };
  },
  /** The key is lost (a mistaken delete): its holder does not notice before its next loop. */
  dropLock({ cluster: { world } }) {
    world.dcs.lock = null;
    return nothing;
  },
  burst: ({ cluster: { setRate } }) => {
    setRate(5_000_000);
    return () => setRate();
  },
  quiet: ({ cluster: { setRate } }) => {
    setRate(0);
    return () => setRate();
  },
  wire: ({ cluster: { profile }, fault, seat: { mask } }) => wire(mask, fault, profile.timeoutMs),
  /** The few workers of a node's API are busy: a status takes most of the timeout, and what can wait hangs. */
  overload({ cluster: { profile }, fault: { load }, seat: { mask } }) {
    const faults: readonly (readonly [Kind, WireFault])[] = [
      ["status", { kind: "late", ms: profile.timeoutMs * load }],
      ["cluster", { kind: "late", ms: profile.timeoutMs * load }],
      ["other", { kind: "hang" }],
    ];
    for (const [kind, fault] of faults) mask.wire.set(kind, fault);
    return () => {
      for (const [kind, fault] of faults) if (mask.wire.get(kind) === fault) mask.wire.delete(kind);
    };
  },
  lose({ fault: { field, every, isNull: asNull }, seat: { mask } }) {
    mask.lose = { field, every, asNull };
    return () => void (mask.lose = null);
  },
  claim({ seat: { mask } }) {
    mask.claims = true;
    return () => void (mask.claims = false);
  },
  oldStatus({ cluster: { world }, seat: { mask }, node, nowMs }) {
    mask.frozenStatus = {
      status: claims(world, node, nowMs) ? 200 : 503,
      document: statusDocument(world, node, nowMs),
    };
    return () => void (mask.frozenStatus = null);
  },
  view({ cluster: { world }, fault: { names }, seat: { mask }, node, other, nowMs }) {
    mask.view = { nobody: null, itself: node.name, other: other.name, stuck: world.holder(nowMs) }[names];
    return () => void (mask.view = undefined);
  },
  oldHistory({ cluster: { world }, seat: { mask } }) {
    mask.historyRows = world.forks.length;
    return () => void (mask.historyRows = null);
  },
  guest({ cluster: { clone }, seat, node }) {
    seat.guest = clone?.seats.find(({ node: { name } }) => name === node.name) ?? null;
    return () => void (seat.guest = null);
  },
  freeze({ cluster: { machine, profile }, fault }) {
    machine?.freeze(Math.min(fault.forMs, profile.maxAgeMs * 2));
    return nothing;
  },
  suspend({ cluster: { machine, profile }, fault }) {
    machine?.suspend(Math.min(fault.forMs, profile.maxAgeMs * 4));
    return nothing;
  },
  unreachable({ seat: { mask } }) {
    mask.isUnreachable = true;
    return () => void (mask.isUnreachable = false);
  },
  dcsMember: ({ cluster: { machine }, fault }) =>
    machine?.loseDcsMember(fault.other % 3, fault.isNull ? "down" : "isolated") ?? nothing,
  dcsEvents: ({ cluster: { machine }, fault }) => machine?.disturbDcsEvents(fault.isNull ? "lost" : "late") ?? nothing,
  crash({ node, fault: { forMs, isNull: isBroken }, nowMs }) {
    const hangMs = Math.min(1_500, forMs * 0.3);
    const begun = crash(node, { nowMs, hangMs, isBroken });
    return () => {
      node.isFlushing = true;
      if (begun !== null) begun.isBroken = false;
    };
  },
  /** PostgreSQL of the leader is killed. Patroni keeps the lock, and the leader comes back in place. */
  recoverInPlace({ cluster: { world, profile }, node, fault: { forMs, isNull, load }, nowMs }) {
    if (node.role !== "primary" || world.holding?.name !== node.name) return nothing;
    const takesMs = Math.min(forMs, 2_000 + load * 20_000);
    const reconnectMs = profile.lagTimeMs * 2 * Math.max(0, load - 0.3);
    crash(node, { nowMs, hangMs: 0, isBroken: false, recovery: { takesMs, reconnectMs, promotes: isNull } });
    return nothing;
  },
  /**
   * The leader is set back on its timeline, by a snapshot of its machine or of its storage: with a new start or the old
   * one, and writes on or is idle.
   */
  setBack({ cluster: { world, setRate }, node, fault: { load, isNull: isNew, every }, nowMs }) {
    const isLeader = node.role === "primary" && world.holding?.name === node.name && isServing(node);
    if (!isLeader || node.state !== "running" || node.transition !== null) return nothing;
    if (world.isStandby || node.timeline !== world.timeline) return nothing;
    const back = Math.round(load * 10 * Math.max(world.walRate, 20_000));
    const least = (world.forks.at(-1)?.position ?? world.startsAt) + 256;
    const position = Math.max(least, node.flushed - back);
    if (position >= node.flushed) return nothing;
    world.setBack(node, position);
    world.isTended = false;
    if (isNew) node.startedMs = nowMs;
    if (every > 1) setRate(0);
    return () => {
      if (every > 1) setRate();
    };
  },
  /** An operator makes a standby cluster a primary one. */
  promoteCluster({ cluster: { world } }) {
    world.isStandby = false;
    return nothing;
  },
  /**
   * The leader's machine freezes, and the lock goes to a replica that does not know its timeline: it begins another one
   * with the same number.
   */
  repeatTimeline({ cluster: { world }, node, nowMs }) {
    const leader = world.nodes.find(({ name }) => name === world.holder(nowMs));
    const isBehind = node.role === "replica" && isServing(node) && node.timeline === world.timeline - 1;
    if (leader === undefined || leader === node || !isBehind || world.isStandby) return nothing;
    leader.isHalted = true;
    world.repeater = node.name;
    world.isTended = false;
    return () => {
      leader.isHalted = false;
      world.repeater = null;
    };
  },
  starve({ cluster: { machine, profile }, fault: { forMs, load } }) {
    machine?.starve(Math.min(forMs, profile.maxAgeMs * 4), 20 * 4 ** (3 * load));
    return nothing;
  },
  restart({ cluster: { machine }, fault }) {
    machine?.restart(Math.min(fault.forMs, 8_000));
    return nothing;
  },
  reuse({ cluster: { machine }, seat }) {
    seat.guest = machine?.stranger ?? null;
    return () => void (seat.guest = null);
  },
};

/** Asks for a switchover, as far as the cluster manager allows it. */
function switchTo(world: World, candidate: ModelNode): void {
  const canBe = candidate.isStreaming && isServing(candidate) && !world.dcs.isPaused;
  const isAllowed = syncMax[world.mode] === 0 || world.dcs.sync?.standbys.has(candidate.name) === true;
  if (canBe && isAllowed && world.holding?.name !== candidate.name) world.dcs.switchover = candidate.name;
}

function revive(node: ModelNode): void {
  if (node.isUp) return;
  const position = node.role === "primary" ? node.flushed : positionOf(node);
  Object.assign(node, {
    isUp: true,
    role: "replica",
    received: position,
    replayed: position,
    upstream: null,
    transition: null,
  });
  Object.assign(node, { crash: null, isFlushing: true, isDemoted: false, leadsStandby: false });
  Object.assign(node, { leaseUntilMs: 0, promoteAtMs: null, state: "running", nextLoopMs: 0 });
}

function receiver(node: ModelNode, state: "dead" | "frozen", nowMs: number): Undo {
  if (state === "frozen" && !node.isStreaming) return nothing;
  node.receiver = state;
  node.receiverSinceMs = nowMs;
  return () => void (node.receiver = "streaming");
}

function wire(mask: Mask, { wire: kind, request }: Fault, timeoutMs: number): Undo {
  if (kind === "refuse") {
    mask.refuses = true;
    return () => (mask.refuses = false);
  }
  const table: Record<Exclude<Fault["wire"], "refuse">, WireFault> = {
    hang: { kind: "hang" },
    late: { kind: "late", ms: timeoutMs * 1.3 },
    slow: { kind: "late", ms: timeoutMs * 0.65 },
    drip: { kind: "drip", ms: timeoutMs * 0.65 },
    reset: { kind: "reset" },
    garbage: { kind: "garbage" },
    error: { kind: "error" },
    truncate: { kind: "truncate" },
  };
  const fault = table[kind];
  mask.wire.set(request, fault);
  return () => {
    if (mask.wire.get(request) === fault) mask.wire.delete(request);
  };
}
