import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readdir, rename, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject, parseJson, type JsonObject } from "../cluster/values/json.ts";

/** More than any state file of ours: what is longer was not written by us and is not read. In bytes. */
const bytesMax = 16 * 1024 * 1024;

/** What a state file holds; `problem` says why it is not used, `null` where it is, or where there is none yet. */
export interface StateFile {
  readonly value: JsonObject;
  readonly problem: string | null;
}

/** Reads a state file. Never throws: a file that cannot be used is a problem to warn of, and the process starts without it. */
export function readStateFile(file: string): StateFile {
  try {
    const { size } = statSync(file);
    if (size > bytesMax) return unusable(`must be at most ${bytesMax} bytes, got ${size}`);
    const value = parseJson(readFileSync(file, "utf8"));
    if (!isObject(value)) return unusable("must be a JSON object, got something else");
    if (!isObject(value["clusters"])) return unusable("must have an object `clusters`, got none");
    return { value, problem: null };
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isAbsent ? { value: {}, problem: null } : unusable(error instanceof Error ? error.message : String(error));
  }
}

function unusable(problem: string): StateFile {
  return { value: {}, problem };
}

/**
 * Replaces a file whole: a reader finds the old content or the new, never a part. The draft beside it is created, never opened: whoever
 * can plant a file or a link there gains nothing.
 * @throws what the file system says; then no draft stays
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } catch (error) {
    await unlink(draft).catch(() => {
      // It was never created, or is in place already.
    });
    throw error;
  }
}

/**
 * Removes drafts that earlier runs left behind when they were killed while writing. Those of other processes that run are left alone.
 * @returns the names of the files removed
 */
export async function sweepDrafts(file: string): Promise<readonly string[]> {
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user runs too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
