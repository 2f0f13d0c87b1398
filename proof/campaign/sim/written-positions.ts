import { floorText, type Written } from "../oracle/read-your-writes.ts";
import { isServing } from "../world/node.ts";
import type { World } from "../world/world.ts";

/** How many positions of each timeline are kept. */
const keptMax = 6;

/** What clients have written to the modelled cluster: the positions that they may ask for when they read. */
export class WrittenPositions {
  readonly #world: World;
  readonly #byTimeline = new Map<number, Written[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Writes to each primary that accepts it, also to one that has lost the lock: such a write may get lost. */
  write(): void {
    for (const node of this.#world.nodes) {
      if (node.role !== "primary" || node.state !== "running" || !isServing(node)) continue;
      const kept = this.#byTimeline.get(node.timeline) ?? [];
      kept.push({ timeline: node.timeline, position: node.flushed });
      if (kept.length > keptMax) kept.shift();
      this.#byTimeline.set(node.timeline, kept);
    }
  }

  /**
   * A position as `min_lsn` has it: of the newest timeline with writes, or of the one before.
   * @param turn which of the last positions; every second turn is of the timeline before
   * @returns null if nothing was written there
   */
  at(turn: number): string | null {
    const timelines = [...this.#byTimeline.keys()].sort((one, two) => two - one);
    const kept = this.#byTimeline.get(timelines[turn % 2] ?? -1) ?? [];
    const written = kept[(turn >> 1) % Math.max(1, kept.length)];
    return written === undefined ? null : floorText(written);
  }
}
