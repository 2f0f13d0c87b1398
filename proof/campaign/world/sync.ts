import { syncMax } from "./mode.ts";
import type { ModelNode } from "./node.ts";
import { listedAt } from "./wal.ts";
import type { World } from "./world.ts";

/** The leader's turn: it keeps the synchronous standbys that it still sends WAL to, and adds others. */
export function chooseStandbys(world: World, leader: ModelNode, nowMs: number): void {
  const max = syncMax[world.mode];
  if (max === 0) return;
  const known = world.dcs.sync?.standbys ?? none;
  const listed = listedAt(world, leader, nowMs);
  const isKept = ({ name }: ModelNode): boolean => known.has(name);
  const added = listed.filter((node) => !isKept(node)).sort((one, two) => two.received - one.received);
  const chosen = [...listed.filter(isKept), ...added].slice(0, max);
  world.dcs.sync = { leader: leader.name, standbys: new Set(chosen.map(({ name }) => name)) };
}

/** A new leader has no synchronous standbys before its next turn. */
export function beginSync(world: World, leader: ModelNode): void {
  if (syncMax[world.mode] > 0) world.dcs.sync = { leader: leader.name, standbys: none };
}

/** Whether a node may take the lock: in the synchronous modes only the last leader and its synchronous standbys may. */
export function mayLead({ dcs, mode }: World, { name }: ModelNode): boolean {
  return syncMax[mode] === 0 || dcs.sync === null || dcs.sync.leader === name || dcs.sync.standbys.has(name);
}

/** How a node counts by the key `/sync`; null: asynchronous. */
export function syncRoleOf({ dcs, mode }: World, name: string): "sync_standby" | "quorum_standby" | null {
  if (dcs.sync?.standbys.has(name) !== true) return null;
  return mode === "quorum" ? "quorum_standby" : "sync_standby";
}

const none: ReadonlySet<string> = new Set();
