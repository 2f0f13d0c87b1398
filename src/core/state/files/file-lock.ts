import { randomBytes } from "node:crypto";
import { readFile, readlink, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { readRegularFileLater } from "../../files/regular-file.ts";
import { isRunning } from "./is-running.ts";

/** A holder that this machine cannot look up counts as gone if it has not confirmed its lock for this long, in ms. */
const confirmedMaxMs = 30_000;
/** More than any lock of ours, in bytes. */
const lockBytesMax = 4_096;

/** Who holds a lock, as its file says. */
interface Holder {
  readonly pid: number;
  /** When the process started, in ticks since boot: another process may get its number later. Empty if unknown. */
  readonly started: string;
  /** The boot and the process namespace in which the number has its meaning. */
  readonly scope: string;
}

/**
 * Makes sure that one process writes somewhere. The lock is a file that names its process. It does not outlive that
 * process: a lock whose process was killed is taken over.
 */
export class FileLock {
  readonly #file: string;
  #own: string | null = null;

  /** @param file the path of the lock itself */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Takes the lock, unless a running process holds it.
   * @returns who holds it, in words; `null` if this process does
   * @throws the file system's error
   */
  async acquire(): Promise<string | null> {
    const own = JSON.stringify(await describeProcess());
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        await writeFile(this.#file, own, { mode: 0o600, flag: "wx" });
        this.#own = own;
        return null;
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
      const content = (await this.#read().catch(emptyIfForbidden)) ?? "";
      // Our own lock, from a time in which it could not be confirmed.
      if (content === this.#own) return null;
      const holder = await this.#liveHolder(content);
      if (holder !== null) return holder;
      await this.#discard(content);
    }
    return "another process that starts at the same time";
  }

  /**
   * Confirms that this process still holds the lock.
   * @returns whether it does
   * @throws the file system's error if the lock cannot be read now: it is not lost by that
   */
  async confirm(): Promise<boolean> {
    if (this.#own === null || (await this.#read()) !== this.#own) return false;
    const nowS = Date.now() / 1000;
    await utimes(this.#file, nowS, nowS).catch(() => {});
    return true;
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    if (await this.confirm().catch(() => false)) await unlink(this.#file).catch(() => {});
    this.#own = null;
  }

  /** Reads the lock. @returns `null` if there is none @throws any other error of the file system */
  async #read(): Promise<string | null> {
    return readRegularFileLater(this.#file, lockBytesMax).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    });
  }

  async #liveHolder(content: string): Promise<string | null> {
    const holder = readHolder(content);
    const own = await describeProcess();
    if (holder !== null && holder.scope === own.scope) {
      // A lock of this very process is one that it holds already, or left behind when it was stopped.
      if (holder.pid === own.pid) return holder.started === own.started ? "this process" : null;
      const isSame = isRunning(holder.pid) && (await startOf(holder.pid)) === holder.started;
      return isSame ? `process ${holder.pid}` : null;
    }
    // Another container, another machine, or an unfinished file: only the time of the last confirmation is known.
    const confirmedAtMs = await stat(this.#file).then(
      ({ mtimeMs }) => mtimeMs,
      () => -Infinity,
    );
    return Math.abs(Date.now() - confirmedAtMs) < confirmedMaxMs ? "a process of another container or machine" : null;
  }

  /** Removes a lock without a holder. Another process may have taken it over in the meantime: then it stays. */
  async #discard(content: string): Promise<void> {
    const aside = `${this.#file}.${randomBytes(4).toString("hex")}.tmp`;
    try {
      await rename(this.#file, aside);
    } catch {
      return; // another process was faster
    }
    const taken = await readRegularFileLater(aside, lockBytesMax).catch(() => content);
    if (taken === content) await unlink(aside).catch(() => {});
    else await rename(aside, this.#file).catch(() => {});
  }
}

/** The lock of another user: its content is unknown, its time is not. @throws any other error */
function emptyIfForbidden(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "EACCES") return "";
  throw error;
}

async function describeProcess(): Promise<Holder> {
  const { pid } = process;
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => hostname()),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  return { pid, started: await startOf(pid), scope: `${boot.trim()} ${namespace}`.trim() };
}

/** When a process started; empty if the system does not report it. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the program is in parentheses and may contain spaces. The start is the 20th field after it (proc(5)).
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function readHolder(content: string): Holder | null {
  const [, pid, started = "", scope = ""] =
    /^\{"pid":(\d{1,10}),"started":"(\d*)","scope":"([^"]*)"\}$/.exec(content) ?? [];
  return pid === undefined ? null : { pid: Number(pid), started, scope };
}
