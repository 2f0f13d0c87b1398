import { access, constants, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { errorMessage } from "../core/cluster/values/error-message.ts";
import { makeDirectory } from "../core/files/make-directory.ts";
import { FileLock } from "../core/state/files/file-lock.ts";
import { inTime, late } from "../core/state/files/in-time.ts";

/** The variables by which the system says where a program keeps state: systemd.exec(5), the XDG base directories. */
export type StateVariable = "STATE_DIRECTORY" | "XDG_STATE_HOME";

/** Where a service keeps its state whose configuration does not say. */
export type StateHome =
  | {
      readonly kind: "kept";
      readonly directory: string;
      readonly from: StateVariable;
      /** This process holds it. */
      readonly lock: FileLock;
    }
  | {
      readonly kind: "none";
      /** Why nothing is kept. */
      readonly problem: string;
      /** Whether the system names a directory, and it cannot be used. */
      readonly isFault: boolean;
    };

/** How long one directory may take to answer, in ms. A file system that hangs must not keep the start waiting. */
const answerMaxMs = 2_000;

/** The state file in a directory that the system names. */
export function stateFileIn(directory: string): string {
  return join(directory, "state.json");
}

/** The lock beside a state file: the process that it names writes the file, and those beside it. */
export function stateLockOf(stateFile: string): FileLock {
  return new FileLock(`${stateFile}.lock`);
}

/** Nothing is kept, as intended. */
export function noStateHome(problem: string): StateHome {
  return { kind: "none", problem, isFault: false };
}

/**
 * Finds the directory for state in the environment of a service, and takes its lock: the first of `$STATE_DIRECTORY`
 * (systemd sets it, from `StateDirectory=`) and `$XDG_STATE_HOME/rolecall` that can be written. One that another process
 * uses is not shared, and no other one is taken in its place. Never throws.
 */
export async function openStateHome(env: Readonly<Record<string, string | undefined>>): Promise<StateHome> {
  const problems: string[] = [];
  for (const { from, root, directory } of candidates(env)) {
    const trying = tryDirectory(root, directory).catch(errorMessage);
    const tried = await inTime(trying, answerMaxMs);
    // A file system that answers later has given a lock that nobody uses.
    if (tried === late) void trying.then((taken) => (taken instanceof FileLock ? taken.release() : undefined));
    if (tried instanceof FileLock) return { kind: "kept", directory, from, lock: tried };
    if (typeof tried === "object")
      return { kind: "none", problem: `${tried.holder} uses ${directory} ($${from})`, isFault: true };
    const problem = tried === late ? `it must answer within ${answerMaxMs} ms` : tried;
    problems.push(`cannot use ${directory} ($${from}): ${problem}`);
  }
  if (problems.length > 0) return { kind: "none", problem: problems.join("; "), isFault: true };
  return noStateHome("neither state_file nor $STATE_DIRECTORY nor $XDG_STATE_HOME is set");
}

interface Candidate {
  readonly from: StateVariable;
  /** What must exist already. */
  readonly root: string;
  readonly directory: string;
}

/** Only absolute paths count, as both standards say. systemd separates several directories by colons. */
function candidates(env: Readonly<Record<string, string | undefined>>): readonly Candidate[] {
  const ofSystemd = env["STATE_DIRECTORY"]?.split(":")[0] ?? "";
  const ofUser = env["XDG_STATE_HOME"] ?? "";
  return [
    ...(isAbsolute(ofSystemd) ? [{ from: "STATE_DIRECTORY" as const, root: ofSystemd, directory: ofSystemd }] : []),
    ...(isAbsolute(ofUser)
      ? [{ from: "XDG_STATE_HOME" as const, root: ofUser, directory: join(ofUser, "rolecall") }]
      : []),
  ];
}

/** @returns the lock; who holds it @throws the file system's error */
async function tryDirectory(root: string, directory: string): Promise<FileLock | { readonly holder: string }> {
  if (!(await stat(root)).isDirectory()) throw new Error(`${root} must be a directory`);
  if (directory !== root) await makeDirectory(directory, 0o700);
  await access(directory, constants.W_OK | constants.X_OK);
  const lock = stateLockOf(stateFileIn(directory));
  const holder = await lock.acquire();
  return holder === null ? lock : { holder };
}
