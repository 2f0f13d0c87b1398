import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** The young generation may grow to this size in bytes. It doubles, so it ends between this and twice this. */
const youngMax = 6_000_000;
/** How often its size is checked while it may grow, in ms. */
const checkMs = 250;

/**
 * Lets the young generation grow a little if much survives in it, as with many nodes. Without that, collecting a small
 * one again and again costs a tenth of the processor time of probing. V8 reads the flag for its largest size only at
 * its start, so its size is watched.
 *
 * Node's documents warn of flags that change while V8 runs. This one is sound: V8 reads `semi_space_growth_factor` only
 * in `SemiSpaceNewSpace::Grow` (deps/v8/src/heap/new-spaces.cc), at a safepoint after a collection, multiplies the size
 * by it, and keeps no copy. test/core/command/framework/v8-tuning.process.test.ts changes it hundreds of times under load and then checks all that
 * lives in the heap: nothing was damaged on Node 20.20 and 24.21.
 */
export function growYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  const timer = setInterval(() => {
    if (youngSize() < youngMax) return;
    setFlagsFromString("--semi-space-growth-factor=1");
    clearInterval(timer);
  }, checkMs).unref();
}

function youngSize(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? Infinity;
}
