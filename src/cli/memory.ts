import { setFlagsFromString } from "node:v8";

/**
 * Keeps the heap's young space from growing. What a probe or an answer leaves behind dies at once, so a small space is swept as
 * cheaply as one of 32 MB, and resident memory stays that much smaller. The flag is V8's own and read at each sweep; one that V8 no
 * longer knows is ignored.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
