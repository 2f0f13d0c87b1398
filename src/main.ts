#!/usr/bin/env node
/** Entry point: maps argv to a command, handles signals, sets the exit code. A command is loaded only when it runs. */
// First: it must run before any other module of the program.
import "./core/command/framework/v8-flags.ts";
import { processIo } from "./core/command/output/io.ts";
import { run } from "./cli/run.ts";

const ended = new AbortController();
const crashed = new AbortController();
const io = processIo();
io.stdoutClosed.addEventListener("abort", () => ended.abort("a closed stdout"), { once: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ended.abort(signal));
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => crashed.abort(error instanceof Error ? error : new Error(String(error))));
}

// No await at the top of the module: the single executable is CommonJS.
void runProgram();

async function runProgram(): Promise<void> {
  const { exitCode, mustExit } = await run(process.argv.slice(2), io, {
    ended: ended.signal,
    crashed: crashed.signal,
  });
  process.exitCode = exitCode;
  if (mustExit) process.exit(exitCode);
}
