import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The bytes before the data: a SHA-256 digest. */
const digestLength = 32;

/** How many caches of one bundle are kept: several versions of rolecall and of Node may use one folder in turn. */
const cachesMax = 4;

/**
 * Returns the folder for the code cache. It is below the first of these variables that holds an absolute path:
 * NODE_COMPILE_CACHE, CACHE_DIRECTORY as systemd sets it, XDG_CACHE_HOME, HOME. The last two count only if HOME is a
 * folder that nobody but this user and root can write. A relative path never counts, although Node accepts one: the
 * working directory of a service is no place for a cache.
 * @param env the environment. NODE_DISABLE_COMPILE_CACHE=1 turns the cache off, as it does Node's
 * @returns `null` if there is to be no cache, or no place for it
 */
export function codeCacheFolder(env: NodeJS.ProcessEnv): string | null {
  if (env["NODE_DISABLE_COMPILE_CACHE"] === "1") return null;
  const named = [env["NODE_COMPILE_CACHE"], env["CACHE_DIRECTORY"]?.split(":")[0]].find((path) => isAbsolute(path));
  if (named !== undefined) return join(named, "rolecall");
  const { XDG_CACHE_HOME: cacheHome = "", HOME: home = "" } = env;
  // A home of another user, such as after sudo, is left alone.
  if (!isAbsolute(home) || !isTrustedFolder(home)) return null;
  return join(isAbsolute(cacheHome) ? cacheHome : join(home, ".cache"), "rolecall");
}

function isAbsolute(path: string | undefined): boolean {
  return path?.startsWith("/") === true;
}

/** A bundle of rolecall. */
export interface Bundle {
  /** Its name, without a hyphen: in the name of its cache, the first hyphen ends the bundle's name. */
  readonly bundle: string;
  /** Where it is installed. V8 keeps the URL of a script in its cache, for stack traces. */
  readonly url: string;
  /** Its code. The name of its cache contains the length, not a digest, which would take time. */
  readonly source: string;
}

/**
 * Returns the file of a bundle's cache. Versions of rolecall and of Node, and installations in several places, that
 * share a folder have a file each.
 * @param folder the folder of the code cache
 */
export function codeCacheFile(folder: string, { bundle, url, source }: Bundle): string {
  const place = createHash("sha256").update(url).digest("hex").slice(0, 16);
  return join(folder, `${bundle}-${process.version}-${process.arch}-${source.length}-${place}.cache`);
}

/**
 * Reads a code cache. V8 does not verify the content of its cache, and runs what is in it: so a file counts only if
 * nobody but this user and root can have written it, and if its digest is that of its data and of this source.
 * @param file its path
 * @param source the source that it must belong to
 * @returns `null` if there is no such cache
 */
export function readCodeCache(file: string, source: string): Buffer | null {
  try {
    if (!isTrustedFolder(dirname(file))) return null;
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile() || !isTrusted(stats)) return null;
      const content = readFileSync(descriptor);
      const data = content.subarray(digestLength);
      return content.subarray(0, digestLength).equals(digestOf(source, data)) ? data : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/**
 * Writes a code cache, atomically, and removes the oldest ones of the same bundle. Does nothing if that is not
 * possible: the program works without it.
 * @param file its path; its folder is created, and must belong to this user
 * @param source the source that it belongs to
 * @param data what V8 produced for it
 */
export function writeCodeCache(file: string, source: string, data: Buffer): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (!isTrustedFolder(dirname(file))) return;
    const temporary = `${file}.${process.pid}`;
    try {
      writeFileSync(temporary, Buffer.concat([digestOf(source, data), data]), { flag: "wx", mode: 0o600 });
      renameSync(temporary, file);
    } finally {
      rmSync(temporary, { force: true });
    }
    removeOldest(file);
  } catch {
    // Such as a disk that is full, or a folder that this user cannot write.
  }
}

/** Keeps the bundle's newest files. Temporary files count too, so those of killed processes are removed as well. */
function removeOldest(file: string): void {
  const folder = dirname(file);
  const [bundle = ""] = basename(file).split("-");
  const files = readdirSync(folder).filter((name) => name.startsWith(`${bundle}-`));
  const dated = files.map((name) => ({ path: join(folder, name), timeMs: lstatSync(join(folder, name)).mtimeMs }));
  const oldest = dated.toSorted((one, other) => other.timeMs - one.timeMs).slice(cachesMax);
  for (const { path } of oldest) rmSync(path, { force: true });
}

/** The digest covers source and data, because both decide what runs. Bundled code has no character beyond latin1. */
function digestOf(source: string, data: Buffer): Buffer {
  return createHash("sha256").update(source, "latin1").update(data).digest();
}

function isTrustedFolder(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && isTrusted(stats);
  } catch {
    return false;
  }
}

/** Whether only this user or root can write it. */
function isTrusted({ uid, mode }: Stats): boolean {
  return (uid === process.geteuid?.() || uid === 0) && (mode & 0o022) === 0;
}
