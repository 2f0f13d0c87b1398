import { clearMask } from "../wire/mask.ts";
import type { ModelCluster } from "./model-cluster.ts";

/** Removes every fault. The model handles the consequences (a rewind, a race for the lock). */
export function heal({ world, seats, setRate }: ModelCluster): void {
  world.repeater = null;
  world.isTended = true;
  Object.assign(world.dcs, { isDown: false, isPaused: false, hasFailsafe: false, switchover: null });
  world.dcs.cut.clear();
  setRate();
  for (const { node } of seats) {
    Object.assign(node, {
      isHalted: false,
      isManagerFrozen: false,
      receiver: "streaming",
      isReplayPaused: false,
      rewinds: true,
      isFlushing: true,
    });
    if (node.crash !== null) node.crash.isBroken = false;
    if (!node.isUp) throw new Error(`Cannot heal ${node.name}: its faults must have ended`);
  }
  for (const seat of seats) {
    seat.guest = null;
    Object.assign(seat.mask, clearMask());
  }
}
