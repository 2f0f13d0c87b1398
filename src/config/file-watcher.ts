import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";

/** How files are watched. */
export interface WatchOptions {
  /** How long after one look the next follows, in milliseconds. */
  readonly pollMs?: number;
}

/** The fingerprint of a file that is not there, or cannot be looked at. */
const missing = "missing";

const pathsMax = 1024;

/** A file that keeps changing is reported after this many looks, settled or not. */
const unsettledMax = 10;

/**
 * Watches files by looking at them, every second unless `pollMs` says otherwise: so a file that is missing, replaced
 * by a rename, or behind a link that moves is seen like any other, on every file system. Calls `onChange` with the
 * paths that changed, once they have stayed the same for one look (a writer may be halfway). What changes after this
 * call returns is noticed. Keeps no process alive. Throws a RangeError for over 1024 paths.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: (changed: readonly string[]) => void,
  { pollMs = 1000 }: WatchOptions = {},
): { close(): void } {
  const unique = [...new Set(paths)];
  if (unique.length > pathsMax)
    throw new RangeError(`Cannot watch files as they must be at most ${pathsMax}: they are ${unique.length}`);
  const seen = new Map(unique.map((path) => [path, firstSeen(path)]));
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const prints = await Promise.all(unique.map((path) => stat(path).then(fingerprint, () => missing)));
    if (isClosed) return;
    const changed = unique.filter((path, index) => hasSettled(seen, path, prints[index] ?? missing));
    next();
    if (changed.length > 0) onChange(changed);
  };
  const next = (): void => {
    // One look follows the end of another, so that a file system that hangs piles up nothing. It rejects only when
    // onChange throws.
    timer = setTimeout(() => void look(), pollMs).unref();
  };
  next();
  return {
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** What a file looked like when it was last reported, and in the last look. */
interface Seen {
  readonly reported: string;
  readonly last: string;
  /** How many looks in a row differed from `reported`. */
  readonly differing: number;
}

function hasSettled(seen: Map<string, Seen>, path: string, print: string): boolean {
  const { reported, last, differing } = seen.get(path) ?? { reported: print, last: print, differing: 0 };
  const looks = print === reported ? 0 : differing + 1;
  const settled = looks > 0 && (print === last || looks >= unsettledMax);
  seen.set(path, { reported: settled ? print : reported, last: print, differing: settled ? 0 : looks });
  return settled;
}

function firstSeen(path: string): Seen {
  let print = missing;
  try {
    print = fingerprint(statSync(path));
  } catch {
    // It may come later.
  }
  return { reported: print, last: print, differing: 0 };
}

/** What tells one content of a file from another. */
function fingerprint({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
