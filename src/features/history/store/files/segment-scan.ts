import type { Segment } from "./segment-files.ts";

/**
 * Calls `read` with each line of a file, up to the first one that is past what is wanted.
 * @param onDamaged called with the number of lines that could not be read, if there are any
 * @param charge called with the time for which other work had to wait, in ms
 */
export async function scanSegment(
  groups: AsyncIterable<readonly string[]>,
  read: (text: string) => "read" | "past" | "damaged",
  { onDamaged, charge }: { onDamaged: (lines: number) => void; charge: (ms: number) => void },
): Promise<void> {
  let damaged = 0;
  let isPast = false;
  for await (const lines of groups) {
    const startedAtMs = performance.now();
    for (const text of lines) {
      const result = read(text);
      if (result === "damaged") damaged += 1;
      isPast ||= result === "past";
    }
    charge(performance.now() - startedAtMs);
    if (isPast) break;
  }
  if (damaged > 0) onDamaged(damaged);
}

/** The newest files that together have at most `bytes`; the first of them from its middle, unless it is compressed. */
export function lastOf(
  segments: readonly Segment[],
  bytes: number,
): readonly { readonly segment: Segment; readonly fromByte: number }[] {
  const found: { segment: Segment; fromByte: number }[] = [];
  let left = bytes;
  for (const segment of segments.toReversed()) {
    if (left <= 0) break;
    const fromByte = segment.isCompressed ? 0 : Math.max(0, segment.bytes - left);
    found.unshift({ segment, fromByte });
    left -= segment.bytes;
  }
  return found;
}
