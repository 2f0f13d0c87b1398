import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";

/** Options of `watchFiles`. */
export interface WatchOptions {
  /** Time from the end of one poll to the next, in ms. Default: 1000 */
  readonly pollMs?: number;
}

/** The fingerprint of a file that is absent or cannot be examined. */
const missing = "missing";

const pathsMax = 1024;

/** A file that keeps changing is reported after this many polls, stable or not. */
const unstableMax = 10;

/**
 * Watches files by polling, so that a file that is missing, replaced by a rename, or behind a link that moves is
 * noticed like any other, on every file system. Calls `onChange` with the changed paths once those files have been
 * stable for one poll, because a writer may not have finished. Changes after this call returns are noticed. Does not
 * keep the process alive.
 * @throws RangeError for more than 1024 paths
 */
export function watchFiles(
  paths: readonly string[],
  onChange: (changed: readonly string[]) => void,
  { pollMs = 1000 }: WatchOptions = {},
): { close(): void } {
  const unique = [...new Set(paths)];
  if (unique.length > pathsMax)
    throw new RangeError(`Cannot watch files: there must be at most ${pathsMax} of them, got ${unique.length}`);
  const watched = new Map(unique.map((path) => [path, firstState(path)]));
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const poll = async (): Promise<void> => {
    const fingerprints = await Promise.all(unique.map((path) => stat(path).then(fingerprintOf, () => missing)));
    if (isClosed) return;
    const changed = unique.filter((path, index) => hasChanged(watched, path, fingerprints[index] ?? missing));
    scheduleNext();
    if (changed.length > 0) onChange(changed);
  };
  const scheduleNext = (): void => {
    // A poll begins after the last one ended, so polls do not pile up if the file system hangs. `poll` rejects only if
    // `onChange` throws.
    timer = setTimeout(() => void poll(), pollMs).unref();
  };
  scheduleNext();
  return {
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The fingerprint of a file when it was last reported, and at the last poll. */
interface WatchedState {
  readonly reported: string;
  readonly last: string;
  /** How many polls in a row differed from `reported`. */
  readonly differing: number;
}

function hasChanged(watched: Map<string, WatchedState>, path: string, fingerprint: string): boolean {
  const { reported, last, differing } = watched.get(path) ?? { reported: fingerprint, last: fingerprint, differing: 0 };
  const polls = fingerprint === reported ? 0 : differing + 1;
  const mustReport = polls > 0 && (fingerprint === last || polls >= unstableMax);
  watched.set(path, {
    reported: mustReport ? fingerprint : reported,
    last: fingerprint,
    differing: mustReport ? 0 : polls,
  });
  return mustReport;
}

function firstState(path: string): WatchedState {
  let fingerprint = missing;
  try {
    fingerprint = fingerprintOf(statSync(path));
  } catch {
    // It may be created later.
  }
  return { reported: fingerprint, last: fingerprint, differing: 0 };
}

/** Distinguishes one content of a file from another. */
function fingerprintOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
