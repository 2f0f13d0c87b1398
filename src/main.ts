#!/usr/bin/env node
/** Entry point: argv to a command, signals, exit code. A command's file is loaded only when the command runs. */
// First: it must run before any other module of the program.
import "./cli/framework/v8-flags.ts";
import { processIo } from "./cli/output/io.ts";
import { run } from "./cli/run.ts";

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
// What a command left open when it was cut short must not keep the process.
if (wasInterrupted) process.exit(exitCode);
