import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** How large the young space may become, in bytes; it doubles, so it may end between this and twice this. */
const youngMax = 6_000_000;
/** How often its size is looked at while it may grow, in ms. */
const lookMs = 250;

/**
 * Keeps the heap small. The young space stays at a megabyte instead of growing to 32 while modules are loaded: what a probe or an answer leaves
 * behind dies at once. The old space is collected when it has doubled, not (as V8 does on a quick machine) when it is four times what lives
 * in it: what a probe leaves for the next one to be compared with lives for a second, and so ends there. With 1,000 nodes both together
 * take a third of the memory away. To be called before much is loaded, for spaces do not shrink at once. The flags are V8's own, read
 * at each collection.
 */
export function limitHeap(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=100");
}

/**
 * Lets the young space grow a little where much survives in it, as with many nodes: sweeping a small one again and again costs probing a
 * tenth of its processor time. V8 reads the bound of that space only as it starts, so its size is watched.
 */
export function growYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  const watch = setInterval(() => {
    if (youngSize() < youngMax) return;
    setFlagsFromString("--semi-space-growth-factor=1");
    clearInterval(watch);
  }, lookMs).unref();
}

function youngSize(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? Infinity;
}
