import { readdir, rename, stat, unlink, utimes, open, type FileHandle } from "node:fs/promises";
import { constants, createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { requireRegular } from "../../../../core/files/regular-file.ts";

/**
 * `events`: events and verdict changes. `evidence`: the outcomes of probes, from which incident files are made. `lag`:
 * the lag of nodes, minute by minute.
 */
export const streamNames = ["events", "evidence", "lag"] as const;

export type StreamName = (typeof streamNames)[number];

/** One file of the history. A stream is the content of its files in the order of their numbers. */
export interface Segment {
  readonly path: string;
  readonly stream: StreamName;
  /** Increases by one with each file of the stream. Unlike times, it never runs backwards. */
  readonly number: number;
  readonly isCompressed: boolean;
  readonly bytes: number;
  /** When it was last written, in ms since the epoch. */
  readonly writtenAtMs: number;
}

const namePattern = /^(events|evidence|lag)-(\d{10})\.jsonl(\.gz)?$/;
const draftPattern = /^(?:events|evidence|lag)-\d{10}\.jsonl\.gz\.tmp$/;

/** Returns the path of a file that is not compressed. */
export function segmentPath(directory: string, stream: StreamName, number: number): string {
  return join(directory, `${stream}-${String(number).padStart(10, "0")}.jsonl`);
}

/**
 * Lists the files of one stream in their order. A file that exists plain and compressed is listed once: the compressed
 * file is complete.
 * @throws the file system's error
 */
export async function listSegments(directory: string, stream: StreamName): Promise<readonly Segment[]> {
  const segments = new Map<number, Segment>();
  for (const name of (await readdir(directory)).toSorted()) {
    const match = namePattern.exec(name);
    if (match?.[1] !== stream) continue;
    const path = join(directory, name);
    // It may have been deleted or compressed since the directory was read.
    const info = await stat(path).catch(() => null);
    if (info === null || !info.isFile()) continue;
    const number = Number(match[2]);
    const isCompressed = match[3] !== undefined;
    segments.set(number, { path, stream, number, isCompressed, bytes: info.size, writtenAtMs: info.mtimeMs });
  }
  return [...segments.values()].toSorted((one, other) => one.number - other.number);
}

/**
 * Compresses a file that is no longer written. The plain file is deleted once the compressed one is complete; its time
 * of writing stays.
 * @throws the file system's error; the plain file stays then
 */
export async function compressSegment({ path, writtenAtMs }: Segment): Promise<void> {
  const draft = `${path}.gz.tmp`;
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(draft, { mode: 0o600, flags: "wx" }));
    await utimes(draft, writtenAtMs / 1000, writtenAtMs / 1000);
    await rename(draft, `${path}.gz`);
    await unlink(path);
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

/** Removes what a killed process left: drafts, and plain files whose compressed file is complete. */
export async function removeLeftovers(directory: string): Promise<void> {
  const names = new Set(await readdir(directory));
  for (const name of names)
    if (draftPattern.test(name) || (namePattern.test(name) && names.has(`${name}.gz`)))
      await unlink(join(directory, name)).catch(() => {});
}

/**
 * Deletes old files of a stream: those written longest ago while all files together are too large, and those that are
 * too old. The newest file always stays.
 * @returns how many bytes remain
 */
export async function pruneSegments(
  segments: readonly Segment[],
  { sizeMax, writtenSinceMs }: { readonly sizeMax: number; readonly writtenSinceMs: number },
): Promise<number> {
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  for (const segment of segments.slice(0, -1)) {
    if (bytes <= sizeMax && segment.writtenAtMs >= writtenSinceMs) continue;
    await unlink(segment.path).catch(() => {});
    bytes -= segment.bytes;
  }
  return bytes;
}

/** How far back the last complete line is looked for, in bytes. */
const tailBytes = 1024 * 1024;

/**
 * Opens a file for appending, and removes an incomplete line at its end: the process that wrote it was killed, or the
 * disk was full. A symbolic link is not followed.
 * @returns the file, its length, and how many bytes were removed
 * @throws the file system's error; an Error if it is no regular file
 */
export async function openForAppending(path: string): Promise<{ file: FileHandle; bytes: number; removed: number }> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const { size } = requireRegular(path, await file.stat());
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    const bytes = size - bytesRead + tail.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    if (bytes < size) await file.truncate(bytes);
    return { file, bytes, removed: size - bytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}
