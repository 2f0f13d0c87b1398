import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import type { Segment } from "./segment-files.ts";

/** How much is read before other work gets its turn, in bytes. */
const chunkBytes = 64 * 1024;
/** A longer line is damaged, in bytes. */
const lineMax = 1024 * 1024;

/** Limits of reading, shared by all files of one request. */
export interface ReadingLimits {
  /** Aborted when the time of the request is over, or when nobody waits for it. */
  readonly signal: AbortSignal;
  /** How many bytes may still be read, after decompression. */
  bytesLeft: number;
  /** Called with the number of lines that could not be read. */
  readonly onDamaged: (path: string, lines: number) => void;
}

/**
 * Reads the complete lines of a file in groups of about 64 kB, so that nothing else waits for them. A file that is
 * missing or damaged ends early, without an error.
 * @param fromByte where to begin; a part of a line at that place is left out
 */
export async function* readLines(
  { path, isCompressed }: Pick<Segment, "path" | "isCompressed">,
  limits: ReadingLimits,
  fromByte: number = 0,
): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0);
  let skipsFirst = fromByte > 0;
  try {
    for await (const chunk of chunksOf({ path, isCompressed }, fromByte, limits.signal)) {
      limits.bytesLeft -= chunk.length;
      if (limits.signal.aborted || limits.bytesLeft < 0) return;
      const end = chunk.lastIndexOf(0x0a);
      if (end < 0) {
        rest = Buffer.concat([rest, chunk]);
        if (rest.length <= lineMax) continue;
        limits.onDamaged(path, 1);
        [rest, skipsFirst] = [Buffer.alloc(0), true];
        continue;
      }
      const lines = Buffer.concat([rest, chunk.subarray(0, end)])
        .toString("utf8")
        .split("\n");
      rest = Buffer.from(chunk.subarray(end + 1));
      yield skipsFirst ? lines.slice(1) : lines;
      skipsFirst = false;
    }
  } catch (error) {
    // The file was deleted or compressed meanwhile, cannot be read, or its compressed data ends too early.
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isGone && !limits.signal.aborted) limits.onDamaged(path, 1);
  }
}

async function* chunksOf(
  { path, isCompressed }: Pick<Segment, "path" | "isCompressed">,
  start: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { start: isCompressed ? 0 : start, highWaterMark: chunkBytes, signal });
  const stream = isCompressed ? file.pipe(createGunzip({ chunkSize: chunkBytes })) : file;
  // An error of the file does not reach the decompressor by itself.
  if (stream !== file) file.once("error", (error) => stream.destroy(error));
  try {
    for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
  } finally {
    file.destroy();
    stream.destroy();
  }
}
