/**
 * The composition root of a guardian process. `switchover/guardian/guardian.ts` starts it before anything is paused. It
 * ends when nothing is left to resume, and not by a signal that ends other processes of the service.
 */
import { setSystemTimer } from "../probe/schedule/system-timer.ts";
import { PgbouncerConsole } from "../push/pgbouncer/console.ts";
import { Guard } from "../switchover/guardian/guard.ts";
import type { FromGuardian, ToGuardian } from "../switchover/guardian/messages.ts";

function send(message: FromGuardian): void {
  // The main process may be gone, which writes every other line of the log.
  if (message.kind === "taken_over")
    process.stderr.write(
      `${JSON.stringify({ level: "warn", time: new Date().toISOString(), why: message.why, msg: "the guardian resumes what rolecall has paused" })}\n`,
    );
  // The empty callback ignores errors: the channel has closed then, and "disconnect" follows.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

const guard = new Guard({ setTimer: setSystemTimer, send, onEnd: () => process.exit(0) });
process.on("message", (message: ToGuardian) => guard.receive(message));
process.on("disconnect", () => guard.mainEnded());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// An exception of one console must not keep the others from being resumed.
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (error: unknown) => {
    send({ kind: "problem", problem: error instanceof Error ? error.message : String(error) });
  });
// What fails here fails again when a console is opened, and is reported then.
PgbouncerConsole.load().catch(() => {});
// The main process may have ended before the listener was added.
if (!process.connected) process.exit(0);
