#!/usr/bin/env node
/** Entry point: maps argv to a command, handles signals, sets the exit code. A command is loaded only when it runs. */
// First: it must run before any other module of the program.
import "./cli/framework/v8-flags.js";
import { processIo } from "./cli/output/io.js";
import { run } from "./cli/run.js";
const ended = new AbortController();
const crashed = new AbortController();
const io = processIo();
io.unread.addEventListener("abort", () => ended.abort("a closed stdout"), { once: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => ended.abort(signal));
for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error) => crashed.abort(error instanceof Error ? error : new Error(String(error))));
}
const { exitCode, wasInterrupted } = await run(process.argv.slice(2), io, {
    ended: ended.signal,
    crashed: crashed.signal,
});
process.exitCode = exitCode;
// Resources that an interrupted command left open must not keep the process alive.
if (wasInterrupted)
    process.exit(exitCode);
//# sourceMappingURL=main.js.map