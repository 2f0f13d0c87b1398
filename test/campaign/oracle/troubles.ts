import { isServing, type ModelNode } from "../world/node.ts";
import { hasDiverged, isForked } from "../world/wal.ts";
import type { World } from "../world/world.ts";
import { isLying } from "../wire/mask.ts";
import type { Seat } from "../wire/seat.ts";

/** What may be wrong with a node in truth, or on its way to rolecall. */
export const troubles = [
  /** It does not answer status requests at once, or not with a whole document. */
  "status",
  /** Nothing listens at its address, or nothing reaches it. */
  "refused",
  /** It does not answer for its cluster document. */
  "cluster",
  "history",
  /** Its report of the lock may be untrue. */
  "claim",
  /** Its cluster document may be untrue. */
  "view",
  /** Another node occupies its address. */
  "guest",
  /** A clone occupied its address. */
  "guestEver",
  /** rolecall polls a clone in its place, at the clone's own address. */
  "moved",
  /** It is not a running primary; in a standby cluster: not its running leader. */
  "notPrimary",
  /** It is not a running replica. */
  "notReplica",
  /** It is not a replica that streams and replays. */
  "detached",
  "diverged",
  "undiverged",
  "unforked",
] as const;

export type Trouble = (typeof troubles)[number];

const whenMoved: readonly Trouble[] = ["moved", "guest", "claim", "view", "status", "cluster", "history"];

const whenDown: readonly Trouble[] = ["status", "refused", "cluster", "history"];

/** When each node last had each trouble; fed with every tick of the model. */
export class Troubles {
  readonly #last = new Map<string, Record<Trouble, number>>();
  readonly #movedSinceMs = new Map<string, number>();
  readonly #guestSinceMs = new Map<string, number>();
  /** When the holder, or a pause or the DCS changed last. */
  changedMs = -Infinity;
  /** Whether clones outnumbered the sound witnesses when rolecall was seen to follow one of them. */
  isMoveAmbiguous = false;
  #state = "";

  /** Records that rolecall polls a clone in place of a node. */
  noteMoved(node: string, nowMs: number): void {
    const last = this.#of(node);
    if (last.moved < nowMs - 1_000) this.#movedSinceMs.set(node, nowMs);
    for (const trouble of whenMoved) last[trouble] = nowMs;
  }

  /**
   * Since when a clone has answered rolecall in place of a node, or did when one last did so: first at the node's
   * address, then at its own. Infinite if none did.
   */
  clonedSinceMs(node: string): number {
    return Math.min(this.#movedSinceMs.get(node) ?? Infinity, this.#guestSinceMs.get(node) ?? Infinity);
  }

  /** Records that rolecall does not run: it hears of no node. */
  noteDown(nowMs: number): void {
    for (const last of this.#last.values()) for (const trouble of whenDown) last[trouble] = nowMs;
    this.changedMs = nowMs;
  }

  /** Records the troubles of an instant. */
  feed(world: World, seats: readonly Seat[], nowMs: number): void {
    for (const seat of seats) {
      const { name } = seat.node;
      const last = this.#of(name);
      if (has(world, seat, "guestEver") && last.guestEver < nowMs - 1_000) this.#guestSinceMs.set(name, nowMs);
      for (const trouble of troubles) if (has(world, seat, trouble)) last[trouble] = nowMs;
    }
    const state = `${world.holder(nowMs)} ${world.dcs.isPaused} ${world.dcs.isDown} ${world.timeline}`;
    if (state !== this.#state) this.changedMs = nowMs;
    this.#state = state;
  }

  /** When a node last had a trouble; minus infinity where it never had. */
  last(node: string, trouble: Trouble): number {
    return this.#of(node)[trouble];
  }

  /** Whether a node had none of these troubles since an instant. */
  isFree(node: string, fromMs: number, ...kinds: readonly Trouble[]): boolean {
    const last = this.#of(node);
    for (const trouble of kinds) if (last[trouble] >= fromMs) return false;
    return true;
  }

  #of(node: string): Record<Trouble, number> {
    let last = this.#last.get(node);
    if (last === undefined) this.#last.set(node, (last = noTrouble()));
    return last;
  }
}

function noTrouble(): Record<Trouble, number> {
  return Object.fromEntries(troubles.map((trouble) => [trouble, -Infinity])) as Record<Trouble, number>;
}

function has(world: World, { node, mask, isMoving, isListening, guest }: Seat, trouble: Trouble): boolean {
  const isMute = !isMoving || !isListening || guest !== null || mask.isUnreachable;
  switch (trouble) {
    case "status":
      return isMute || mask.wire.has("status") || mask.lose !== null || mask.frozenStatus !== null;
    case "refused":
      return !isListening || mask.isUnreachable;
    case "cluster":
      return isMute || mask.wire.has("cluster") || !world.reaches(node);
    case "history":
      return isMute || mask.wire.has("history") || mask.historyRows !== null || !world.reaches(node);
    case "claim":
      return mask.claims || mask.frozenStatus !== null || guest !== null;
    case "view":
      return mask.view !== undefined || guest !== null;
    case "guest":
      return guest !== null || isLying(mask);
    case "guestEver":
      return guest !== null;
    case "moved":
      return false;
    case "notPrimary":
      return !isLeading(world, node) || node.state !== "running" || !isServing(node);
    case "notReplica":
      return node.role !== "replica" || node.leadsStandby || node.state !== "running" || !isServing(node);
    case "detached":
      return (
        node.role !== "replica" ||
        node.state !== "running" ||
        !node.isStreaming ||
        node.isReplayPaused ||
        !isServing(node)
      );
    case "diverged":
      return hasDiverged(world, node);
    case "undiverged":
      return !hasDiverged(world, node);
    case "unforked":
      return !isForked(world, node);
  }
}

function isLeading({ isStandby }: World, node: ModelNode): boolean {
  return isStandby ? node.leadsStandby : node.role === "primary";
}
