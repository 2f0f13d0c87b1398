/**
 * Clocks of single processes: libfaketime reads an offset from a file. It changes the wall clock alone; the monotonic
 * clock and the system's clock stay as they are. It does not reach programs in Go, such as etcd.
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The library; undefined if Debian's package faketime is not installed. */
export const fakeClockLibrary: string | undefined = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
].find((file) => existsSync(file));

/** What Python loads at its start. */
const pythonFolder = fileURLToPath(new URL("../../../../proof/jepsen/machines/python", import.meta.url));

/** Sets the offset that a file holds. A process notices it within a second. */
export function setClock(file: string, offsetS: number): void {
  writeFileSync(file, `${offsetS < 0 ? "" : "+"}${offsetS}\n`);
}

/** A command whose wall clock has the offset of the file; the command itself where the library is missing. */
export function withClock(file: string, command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (fakeClockLibrary === undefined) return command;
  const settings = [`FAKETIME_TIMESTAMP_FILE=${file}`, "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"];
  return ["env", `PYTHONPATH=${pythonFolder}`, `LD_PRELOAD=${fakeClockLibrary}`, ...settings, ...command];
}
