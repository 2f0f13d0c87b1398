import { stat } from "node:fs/promises";

/** How files are watched. */
export interface WatchOptions {
  /** How long after one look the next follows, in milliseconds. */
  readonly pollMs?: number;
}

const pathsMax = 1024;

/** A file that keeps changing is reported after this many looks, settled or not. */
const unsettledMax = 10;

/**
 * Watches files by looking at them, every second unless `pollMs` says otherwise: so a file that is missing, replaced by a rename,
 * or behind a link that moves is seen like any other, on every file system. Calls `onChange` with the paths that changed, once
 * they have stayed the same for one look (a writer may be halfway). Keeps no process alive. Throws a RangeError for over 1024 paths.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: (changed: readonly string[]) => void,
  { pollMs = 1000 }: WatchOptions = {},
): { close(): void } {
  const unique = [...new Set(paths)];
  if (unique.length > pathsMax) throw new RangeError(`Cannot watch files as they must be at most ${pathsMax}: they are ${unique.length}`);
  const seen = new Map<string, Seen>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const prints = await Promise.all(unique.map(fingerprint));
    if (isClosed) return;
    const changed = unique.filter((path, index) => hasSettled(seen, path, prints[index] ?? ""));
    if (changed.length > 0) onChange(changed);
  };
  const next = (): void => {
    if (!isClosed) timer = setTimeout(() => void look().finally(next), pollMs).unref();
  };
  void look().finally(next);
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
  const before = seen.get(path) ?? { reported: print, last: print, differing: 0 };
  const differing = print === before.reported ? 0 : before.differing + 1;
  const settled = differing > 0 && (print === before.last || differing >= unsettledMax);
  seen.set(path, settled ? { reported: print, last: print, differing: 0 } : { reported: before.reported, last: print, differing });
  return settled;
}

/** What tells one content of a file from another. A file that is not there has a fingerprint too. */
async function fingerprint(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return "missing";
  }
}
