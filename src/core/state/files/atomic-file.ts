import { randomBytes } from "node:crypto";
import { open, readdir, rename, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRunning } from "./is-running.ts";
import { requireReplaceable } from "../../files/regular-file.ts";

/**
 * Replaces a file whole: a reader finds the old content or the new, never a part. When this resolves, the new content
 * is on disk, and also found there after a power failure. The content is first written to a
 * draft beside the file, which is created, never opened: planting a file or a link under the draft's name gains
 * nothing.
 * @param content text, which is written as UTF-8, or bytes
 * @param prepare gives the draft its owner and mode (default: those of this process, 0600), or refuses the replacement
 * @throws the file system's error, what `prepare` throws, or an Error if the file is of another kind; no draft remains then
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  prepare: (draft: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  await withDraft(file, async (draft) => {
    await writeThrough(draft, content, prepare);
    await rename(draft, file);
    await syncFolder(dirname(file));
  });
}

/**
 * Tries whether {@link replaceFile} would succeed: writes the draft to the disk, and removes it. The file itself is left
 * alone.
 * @throws as {@link replaceFile}; no draft remains then either
 */
export async function tryReplacing(
  file: string,
  content: string | Uint8Array,
  prepare: (draft: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  await withDraft(file, async (draft) => {
    await writeThrough(draft, content, prepare);
    await syncFolder(dirname(file));
  });
}

/** Names a draft of a file that may be replaced. No draft remains when the work on it has ended. */
async function withDraft(file: string, work: (draft: string) => Promise<void>): Promise<void> {
  await requireReplaceable(file);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await work(draft);
  } finally {
    await unlink(draft).catch(() => {
      // It was never created, or has been renamed already.
    });
  }
}

/** Creates a file, and writes its content to the disk. */
async function writeThrough(
  file: string,
  content: string | Uint8Array,
  prepare: (draft: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await prepare(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the entries of a folder to the disk: a rename is lost otherwise. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Removes drafts of earlier runs that were killed while writing. Drafts of other running processes stay.
 * @returns the names of the removed files
 */
export async function removeStaleDrafts(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const prefix = `${basename(file)}.`;
  const removed: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(prefix)
      ? /^(\d+)(?:\.[0-9a-f]{8})?\.tmp$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    const isRemoved = await unlink(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (isRemoved) removed.push(name);
  }
  return removed;
}
