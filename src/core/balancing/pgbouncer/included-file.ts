import { lstat, open, realpath, stat, unlink, type FileHandle } from "node:fs/promises";
import { constants, type Stats } from "node:fs";
import { requireRegular } from "../../files/regular-file.ts";
import { replaceFile, tryReplacing } from "../../state/files/atomic-file.ts";

/** A file as it was read: its text in latin1, so that every byte is one character; `null` if there is none. */
export interface ReadFile {
  readonly text: string | null;
  /** Where it is, after symbolic links. */
  readonly path: string;
  readonly stats: Stats | null;
}

/** How an included file is read and replaced. Replaced in tests. */
export interface IncludedFiles {
  /** @throws Error in words */
  read(file: string): Promise<ReadFile>;
  /**
   * Replaces the file at once, or removes it.
   * @param known what was read of it: a file that has changed since is left alone
   * @param text the new text in latin1; `null`: there was none
   * @throws Error in words
   */
  replace(known: ReadFile, text: string | null): Promise<void>;
  /** Tries whether {@link replace} would be possible: writes a file beside it to the disk, and removes it. @throws Error in words */
  tryReplace(known: ReadFile): Promise<void>;
}

/** The longest file that is read, in bytes. */
const bytesMax = 1024 * 1024;
/** The mode of a new file: PgBouncer must be able to read it, and it holds no secret. */
const newMode = 0o644;
const permissions = 0o7777;

/** The included file on disk. A new one gets the owner, group and mode of the one that it replaces. */
export const includedFiles: IncludedFiles = {
  async read(file) {
    const path = await pathOf(file);
    const stats = await stat(path).catch(nullIfMissing);
    if (stats === null) return { text: null, path, stats };
    requireRegular(file, stats);
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const opened = requireRegular(file, await handle.stat());
      if (opened.size > bytesMax)
        throw new Error(`Cannot use ${file}: it must have at most ${bytesMax} bytes, got ${opened.size}`);
      return { text: await handle.readFile("latin1"), path, stats: opened };
    } finally {
      await handle.close();
    }
  },

  async replace(known, text) {
    const requireUnchanged = async (): Promise<void> => {
      if ((await this.read(known.path)).text !== known.text)
        throw new Error(`${known.path} was changed by somebody else at the same time`);
    };
    if (text === null) {
      await requireUnchanged();
      await unlink(known.path);
      return;
    }
    await replaceFile(known.path, Buffer.from(text, "latin1"), async (draft) => {
      await keepOwner(draft, known);
      await requireUnchanged();
    });
  },

  tryReplace: (known) =>
    tryReplacing(known.path, Buffer.from(known.text ?? "\n", "latin1"), (draft) => keepOwner(draft, known)),
};

/** Where a file is, or would be. A link stays a link. @throws Error if it is a link to nothing */
async function pathOf(file: string): Promise<string> {
  const path = await realpath(file).catch(nullIfMissing);
  if (path !== null) return path;
  if ((await lstat(file).catch(nullIfMissing)) !== null)
    throw new Error(`Cannot use ${file}: it must be a file, got a link to nothing`);
  return file;
}

/** @throws Error if PgBouncer, which could read the old file, may not be able to read the new one */
async function keepOwner(draft: FileHandle, { path, stats }: ReadFile): Promise<void> {
  await draft.chmod(stats === null ? newMode : stats.mode & permissions);
  if (stats === null) return;
  const { uid, gid } = await draft.stat();
  if (uid === stats.uid && gid === stats.gid) return;
  const keepsBoth = await succeeds(draft.chown(stats.uid, stats.gid));
  const keepsGroup = keepsBoth || gid === stats.gid || (await succeeds(draft.chown(uid, stats.gid)));
  // A change of the owner may clear bits of the mode.
  await draft.chmod(stats.mode & permissions);
  if (keepsBoth || (stats.mode & 0o004) !== 0 || (keepsGroup && (stats.mode & 0o040) !== 0)) return;
  throw new Error(
    `Cannot write ${path}: PgBouncer must be able to read it, but its owner (uid ${stats.uid}, gid ${stats.gid}) cannot ` +
      "be kept; make rolecall's user a member of its group, with mode 0640",
  );
}

async function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
