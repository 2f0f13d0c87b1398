/** A disk that hangs below a real PostgreSQL: a preloaded library blocks what is written there, and reads go on. */
import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "./beside.ts";

const compiler = "/usr/bin/cc";

/** Why a hanging disk cannot be had here; `null` if it can. */
export const noHungDisk = existsSync(compiler) ? null : "no C compiler is installed";

export class HungDisk {
  readonly #library: string;
  readonly #flag: string;

  /** Compiles the library into an existing folder. */
  constructor(folder: string) {
    this.#library = join(folder, "hung-disk.so");
    this.#flag = join(folder, "hung");
    execFileSync(compiler, ["-shared", "-fPIC", "-O2", "-o", this.#library, "test/real/lab/hung-disk.c", "-ldl"]);
  }

  /** The same command, with the library below it. */
  below([program, ...args]: Command): Command {
    return ["/usr/bin/env", `LD_PRELOAD=${this.#library}`, `HUNG_DISK=${this.#flag}`, program, ...args];
  }

  /** From now on every write and synchronisation of a file in this folder blocks. */
  hang(folder: string): void {
    writeFileSync(this.#flag, folder);
  }

  release(): void {
    rmSync(this.#flag, { force: true });
  }
}
