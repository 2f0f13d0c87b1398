import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";
import { lstat, open, stat } from "node:fs/promises";

/** The longest file read by default, in bytes: more than any certificate chain, password or token file. */
const defaultMax = 1024 * 1024;

/** Never waits for the other end of a FIFO, and takes no terminal. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads a text file whole, for a start or reload that waits for it. Only regular files are opened: a FIFO or a device
 * may never end, and opening a device may have an effect.
 * @param bytesMax the longest file accepted, in bytes, whatever size the file system reports
 * @throws Error with the file's name if it is no regular file, or too long; the file system's error
 */
export function readRegularFile(file: string, bytesMax: number = defaultMax): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined) requireRegular(file, found);
  const descriptor = openSync(file, flags);
  try {
    const { size } = requireRegular(file, fstatSync(descriptor));
    const content = new BoundedContent(file, size, bytesMax);
    while (content.add(readSync(descriptor, content.free))) {
      // Reads on.
    }
    return content.text;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Does the same without blocking the event loop. A file system that hangs occupies a thread of the pool meanwhile: the
 * caller limits how long it waits, and how many such reads there are.
 */
export async function readRegularFileLater(file: string, bytesMax: number = defaultMax): Promise<string> {
  requireRegular(file, await stat(file));
  const handle = await open(file, flags);
  try {
    const { size } = requireRegular(file, await handle.stat());
    const content = new BoundedContent(file, size, bytesMax);
    while (content.add((await handle.read(content.free)).bytesRead)) {
      // Reads on.
    }
    return content.text;
  } finally {
    await handle.close();
  }
}

/**
 * Makes sure that a file can be replaced: an entry of another kind, such as a device, must not become a file.
 * @throws Error with the file's name
 */
export async function requireReplaceable(file: string): Promise<void> {
  const found = await lstat(file).catch(() => null);
  if (found !== null && !found.isSymbolicLink()) requireRegular(file, found);
}

/**
 * Makes sure that an entry of the file system is a regular file.
 * @throws Error with the file's name, and what it is, in words
 */
export function requireRegular(file: string, found: Stats): Stats {
  if (found.isFile()) return found;
  throw new Error(`Cannot use ${file}: it must be a regular file, got ${kindOf(found)}`);
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a FIFO";
  if (found.isSocket()) return "a socket";
  return found.isSymbolicLink() ? "a symbolic link" : "a device";
}

/** The content of a file as it is read. */
class BoundedContent {
  readonly #file: string;
  readonly #bytesMax: number;
  #bytes: Buffer;
  #length = 0;

  /** @param size that of the file as the file system reports it, in bytes: some files report 0 */
  constructor(file: string, size: number, bytesMax: number) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    // One byte more shows the end of the file, or that it is too long.
    this.#bytes = Buffer.alloc(Math.min(size, bytesMax) + 1);
  }

  /** Where the next bytes go; never empty. */
  get free(): Buffer {
    return this.#bytes.subarray(this.#length);
  }

  get text(): string {
    return this.#bytes.toString("utf8", 0, this.#length);
  }

  /** Counts bytes that were read. @returns whether there may be more @throws Error if the file is too long */
  add(count: number): boolean {
    this.#length += count;
    if (this.#length > this.#bytesMax)
      throw new Error(`Cannot use ${this.#file}: it must have at most ${this.#bytesMax} bytes, got more`);
    if (this.#length === this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], Math.min(2 * this.#length, this.#bytesMax) + 1);
    return count > 0;
  }
}
