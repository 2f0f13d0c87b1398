/**
 * Loaded into a program by {@link hangingOnSignal}: on SIGUSR2, a process that another one has forked blocks its event
 * loop and stays so. A process that is merely stopped would be continued by the one that forked it.
 */
import { writeSync } from "node:fs";
import process from "node:process";

/** What a process writes to its stderr before it hangs. */
export const hangLine = "hangs from now on";

/** The environment in which the processes that a program forks hang on SIGUSR2. */
export const hangingOnSignal: NodeJS.ProcessEnv = { NODE_OPTIONS: `--import ${import.meta.url}` };

if (process.send !== undefined)
  process.on("SIGUSR2", () => {
    writeSync(2, `${hangLine}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
