#!/usr/bin/env node
/** The entry point: argv to a command, signals, exit code. The file of a command is loaded only when it runs. */
import { processIo } from "./cli/output/io.ts";
import { limitHeap } from "./cli/framework/v8-tuning.ts";
import { run } from "./cli/run.ts";

limitHeap();

const ended = new AbortController();
const crashed = new AbortController();
const io = processIo();
io.unread.addEventListener("abort", () => ended.abort("a reader that went away"), { once: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ended.abort(signal));
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => crashed.abort(error instanceof Error ? error : new Error(String(error))));
}

const { exitCode, wasInterrupted } = await run(process.argv.slice(2), io, {
  ended: ended.signal,
  crashed: crashed.signal,
});
process.exitCode = exitCode;
// Whatever an interrupted command left open must not keep the process alive.
if (wasInterrupted) process.exit(exitCode);
