#!/usr/bin/env node
/** The street door: argv to a command, signals, exit code. A command's file is loaded only when it is asked for. */
import { processIo } from "./cli/io.ts";
import { keepHeapSmall } from "./cli/memory.ts";
import { run } from "./cli/run.ts";

keepHeapSmall();

const ended = new AbortController();
const crashed = new AbortController();
const io = processIo();
io.unread.addEventListener("abort", () => ended.abort("a reader that went away"), { once: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ended.abort(signal));
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => crashed.abort(error instanceof Error ? error : new Error(String(error))));
}

const { exitCode, isCut } = await run(process.argv.slice(2), io, { ended: ended.signal, crashed: crashed.signal });
process.exitCode = exitCode;
// What a command left open when it was cut short must not keep the process.
if (isCut) process.exit(exitCode);
