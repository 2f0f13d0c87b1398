#!/usr/bin/env node
/** The street door: argv to a command, signals, exit code. A command's file is loaded only when it is asked for. */
import { processIo } from "./cli/io.ts";
import { run } from "./cli/run.ts";

const ending = new AbortController();
const argv = process.argv.slice(2);
const io = processIo();
io.unread.addEventListener("abort", () => ending.abort("a reader that went away"), { once: true });
// Services end by signals and see to them themselves; a listener here would only keep the default away, as theirs does.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ending.abort(signal));
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (error: unknown) => ending.abort(error instanceof Error ? error : new Error(String(error))));

const { exitCode, isCut } = await run(argv, io, ending.signal);
process.exitCode = exitCode;
// What a command left open when it was cut short must not keep the process.
if (isCut) process.exit(exitCode);
