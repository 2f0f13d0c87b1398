import { recover, segmentBytes } from "./crash.ts";
import { isManaging, isServing, type ModelNode, positionOf } from "./node.ts";
import { beginSync, chooseStandbys, mayLead, syncRoleOf } from "./sync.ts";
import { isForked, isPastSwitchPoint } from "./wal.ts";
import type { World } from "./world.ts";

/** One turn of the cluster manager's loop on a node, as Patroni does it. */
export function loop(world: World, node: ModelNode, nowMs: number): void {
  if (!world.reaches(node)) return withoutDcs(world, node, nowMs);
  node.hasView = true;
  node.isFailsafe = false;
  node.dcsSeenMs = nowMs;
  node.shownTimeline = node.timeline;
  node.historyRows = world.forks.length;
  node.syncRole = syncRoleOf(world, node.name);
  record(world, node, nowMs);
  if (node.state !== "running") return recover(world, node, nowMs);
  const holder = world.holder(nowMs);
  node.seesLock = holder !== null;
  if (holder === node.name) lead(world, node, nowMs);
  else if (holder !== null) serve(world, node, holder, nowMs);
  else race(world, node, nowMs);
}

function record(world: World, node: ModelNode, nowMs: number): void {
  const apiUrl = `http://${node.host}:${node.port}/patroni`;
  const { name, state, role, timeline, received, replayed } = node;
  const isStreaming = role === "replica" && node.isStreaming;
  const position = positionOf(node);
  const writtenMs = nowMs;
  world.dcs.members.set(name, {
    name,
    state,
    role,
    timeline,
    position,
    received,
    replayed,
    isStreaming,
    apiUrl,
    writtenMs,
  });
}

function lead(world: World, node: ModelNode, nowMs: number): void {
  const { dcs, profile } = world;
  const candidate = dcs.switchover;
  if (candidate !== null && candidate !== node.name && world.leads(node)) {
    dcs.switchover = null;
    handOver(world, node, candidate, nowMs);
    return;
  }
  world.take(node, nowMs);
  if (world.isStandby) return leadStandby(world, node);
  if (node.role === "primary") chooseStandbys(world, node, nowMs);
  else if (node.promoteAtMs === null) node.promoteAtMs = nowMs + profile.loopMs * 0.3 * world.chance.next();
}

/** The leader of a standby cluster follows the primary elsewhere. */
function leadStandby({ remote }: World, node: ModelNode): void {
  node.leadsStandby = true;
  node.upstream = remote?.name ?? null;
}

/** A planned switchover: stop PostgreSQL while the lock is still held, give the lock back, wake the candidate. */
function handOver(world: World, node: ModelNode, candidate: string, nowMs: number): void {
  const stopMs = world.profile.loopMs * (0.1 + 0.5 * world.chance.next());
  node.state = "stopping";
  world.take(node, nowMs);
  node.transition = {
    atMs: nowMs + stopMs,
    next: () => {
      node.state = "stopped";
      node.isDemoted = true;
      const position = positionOf(node);
      // It sends its last WAL before it stops.
      for (const other of world.nodes) {
        if (!other.isStreaming || other.upstream !== node.name) continue;
        other.received = Math.max(other.received, position);
        if (!other.isReplayPaused) other.replayed = other.received;
      }
      node.leaseUntilMs = 0;
      if (world.dcs.lock?.holder === node.name) world.dcs.lock = null;
      restartAsReplica(world, node, nowMs + stopMs);
      const next = world.node(candidate);
      if (isManaging(next)) next.nextLoopMs = 0;
    },
  };
}

function restartAsReplica(world: World, node: ModelNode, nowMs: number): void {
  const position = positionOf(node);
  node.role = "replica";
  node.leadsStandby = false;
  // A standby that starts requests WAL from the beginning of its last segment. This shows only if nothing follows.
  node.received = isForked(world, node) ? position - (position % segmentBytes) : position;
  node.replayed = position;
  node.upstream = null;
  node.transition = {
    atMs: nowMs + world.profile.loopMs * (0.2 + 0.6 * world.chance.next()),
    next: () => {
      node.state = "starting";
      node.isDemoted = false;
      node.transition = { atMs: nowMs + world.profile.loopMs, next: () => (node.state = "running") };
    },
  };
}

/** Stops a primary that has lost the lock, and starts it as a replica. The lock bit clears immediately. */
function demote(world: World, node: ModelNode, nowMs: number): void {
  node.leaseUntilMs = 0;
  node.promoteAtMs = null;
  node.leadsStandby = false;
  if (node.role === "replica") return;
  node.state = "stopping";
  node.transition = {
    atMs: nowMs + world.profile.loopMs * (0.1 + 0.5 * world.chance.next()),
    next: () => {
      node.state = "stopped";
      node.isDemoted = true;
      restartAsReplica(world, node, nowMs);
    },
  };
}

function serve(world: World, node: ModelNode, holder: string, nowMs: number): void {
  if (node.role === "primary" || node.leaseUntilMs > nowMs) return demote(world, node, nowMs);
  node.leadsStandby = false;
  const leader = world.node(holder);
  const source = node.upstream === null ? undefined : world.nodes.find(({ name }) => name === node.upstream);
  // A cascading replica keeps its upstream; the others follow the holder.
  const isCascading =
    !world.isStandby &&
    source !== undefined &&
    source.role === "replica" &&
    node.isStreaming &&
    source.timeline === leader.timeline;
  if (!isCascading && world.leads(leader)) node.upstream = holder;
  const isRewound = isPastSwitchPoint(world, node) && node.rewinds;
  const isCopied = !isRewound && world.isTended && isForked(world, node);
  if (!(isRewound || isCopied) || leader.role !== "primary" || !isServing(leader)) return;
  node.state = "stopped";
  node.transition = {
    atMs: nowMs + world.profile.loopMs * (0.3 + world.chance.next()),
    next: () => {
      const common = world.switchPoint(node.timeline, world.timeline);
      node.received = isCopied ? leader.flushed : Math.min(positionOf(node), common);
      node.replayed = node.received;
      node.timeline = world.timeline;
      node.branch = leader.branch;
      node.state = "running";
      node.nextLoopMs = 0;
    },
  };
}

function race(world: World, node: ModelNode, nowMs: number): void {
  // A primary whose timeline is superseded demotes itself.
  if (node.role === "primary")
    return node.timeline === world.timeline ? world.take(node, nowMs) : demote(world, node, nowMs);
  if (world.dcs.isPaused) return;
  if (world.repeater !== null) return repeat(world, node, nowMs);
  const rivals = world.nodes.filter(
    (other) =>
      isManaging(other) &&
      other.state === "running" &&
      other.role === "replica" &&
      other.timeline === world.timeline &&
      mayLead(world, other),
  );
  if (node.timeline !== world.timeline || !mayLead(world, node)) return;
  // Patroni queries the other nodes first. There is no race while a primary answers.
  if (world.nodes.some((other) => other.role === "primary" && isManaging(other) && isServing(other))) return;
  if (rivals.some((other) => world.reaches(other) && positionOf(other) > positionOf(node))) return;
  world.take(node, nowMs);
  beginSync(world, node);
  promote(world, node, nowMs);
}

/** Only one replica can take the lock, whatever it has: the others are cut off. */
function repeat(world: World, node: ModelNode, nowMs: number): void {
  if (node.name !== world.repeater || !isServing(node)) return;
  world.take(node, nowMs);
  promote(world, node, nowMs);
}

/** Lets a new lock holder lead: at once in a standby cluster, otherwise once PostgreSQL has promoted it. */
function promote(world: World, node: ModelNode, nowMs: number): void {
  node.isReplayPaused = false;
  if (world.isStandby) return leadStandby(world, node);
  node.promoteAtMs = nowMs + world.profile.loopMs * 0.4 * world.chance.next();
}

function withoutDcs(world: World, node: ModelNode, nowMs: number): void {
  node.hasView = false;
  node.seesLock = false;
  // Neither what does not run nor the leader of a standby cluster is demoted: its lease ends with the lock.
  if (node.crash !== null || node.leadsStandby) return;
  const leads = node.leaseUntilMs > 0 && node.role === "primary";
  if (!leads) {
    const leader = world.nodes.find((other) => other.isFailsafe && other.role === "primary" && isManaging(other));
    node.isFailsafe = world.dcs.hasFailsafe && leader !== undefined && node.role === "replica";
    if (node.role === "replica") node.leaseUntilMs = 0;
    return;
  }
  if (world.dcs.isPaused) return;
  const canAskAll = world.nodes.every((other) => other === node || isManaging(other));
  // A leader cut off alone finds the others with a view of their own: they refuse to go on with it.
  const isAlone = !world.dcs.isDown;
  if (world.dcs.hasFailsafe && canAskAll && !isAlone) {
    node.isFailsafe = true;
    node.leaseUntilMs = nowMs + world.profile.ttlMs;
    return;
  }
  if (nowMs - node.dcsSeenMs >= world.profile.retryMs) demote(world, node, nowMs);
}
