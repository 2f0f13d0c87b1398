import { isServing, type ModelNode } from "../world/node.ts";
import { isForked, isPastSwitchPoint } from "../world/wal.ts";
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

/** The state of the lock and of the DCS: the same for all nodes. */
interface Shared {
  readonly holder: string | null;
  readonly isPaused: boolean;
  readonly isDown: boolean;
  readonly timeline: number;
}

/** When each node last had each trouble; fed with every tick of the model. */
export class Troubles {
  readonly #last = new Map<string, Record<Trouble, number>>();
  readonly #movedSinceMs = new Map<string, number>();
  readonly #guestSinceMs = new Map<string, number>();
  /** When the holder, or a pause or the DCS changed last. */
  changedMs = -Infinity;
  /** Whether clones outnumbered the sound witnesses when rolecall was seen to follow one of them. */
  isMoveAmbiguous = false;
  #before: Shared | null = null;

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
      if (seat.guest !== null && last.guestEver < nowMs - 1_000) this.#guestSinceMs.set(name, nowMs);
      note(last, world, seat, nowMs);
    }
    const { dcs, timeline } = world;
    const holder = world.holder(nowMs);
    const before = this.#before;
    const isSame =
      before?.holder === holder &&
      before.isPaused === dcs.isPaused &&
      before.isDown === dcs.isDown &&
      before.timeline === timeline;
    if (isSame) return;
    this.changedMs = nowMs;
    this.#before = { holder, isPaused: dcs.isPaused, isDown: dcs.isDown, timeline };
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

/** Notes the troubles of an instant. It runs with every tick of the model: nothing is looked up twice. */
function note(last: Record<Trouble, number>, world: World, seat: Seat, nowMs: number): void {
  const { node, mask, isListening, guest } = seat;
  const isMute = !seat.isMoving || !isListening || guest !== null || mask.isUnreachable;
  const isCut = isMute || !world.reaches(node);
  const { wire } = mask;
  if (isMute || wire.has("status") || mask.lose !== null || mask.frozenStatus !== null) last.status = nowMs;
  if (!isListening || mask.isUnreachable) last.refused = nowMs;
  if (isCut || wire.has("cluster")) last.cluster = nowMs;
  if (isCut || wire.has("history") || mask.historyRows !== null) last.history = nowMs;
  if (mask.claims || mask.frozenStatus !== null || guest !== null) last.claim = nowMs;
  if (mask.view !== undefined || guest !== null) last.view = nowMs;
  if (guest !== null || isLying(mask)) last.guest = nowMs;
  if (guest !== null) last.guestEver = nowMs;
  const isRunning = node.state === "running" && isServing(node);
  const isReplica = isRunning && node.role === "replica";
  if (!isRunning || !isLeading(world, node)) last.notPrimary = nowMs;
  if (!isReplica || node.leadsStandby) last.notReplica = nowMs;
  if (!isReplica || !node.isStreaming || node.isReplayPaused) last.detached = nowMs;
  const isOther = isForked(world, node);
  if (!isOther) last.unforked = nowMs;
  if (isOther || isPastSwitchPoint(world, node)) last.diverged = nowMs;
  else last.undiverged = nowMs;
}

function isLeading({ isStandby }: World, node: ModelNode): boolean {
  return isStandby ? node.leadsStandby : node.role === "primary";
}
