import { PgbouncerConsole } from "../../core/balancing/pgbouncer/console.ts";
import type { ChildHost } from "../../core/feature/child-host.ts";
import { Scope } from "../../core/feature/scope.ts";
import { Guard } from "./guardian/guard.ts";
import { openEvidence } from "./guardian/guardian-evidence.ts";
import type { FromGuardian, ToGuardian } from "./guardian/messages.ts";

/**
 * Runs the guardian of a switchover. `guardian/guardian.ts` starts its process before anything is paused. It ends when
 * nothing is left to finish, and not by a signal that ends other processes of the service.
 */
export function runGuardian(host: ChildHost): void {
  const { setTimer } = host;
  const guard = new Guard({
    setTimer,
    now: () => performance.now(),
    send,
    open: (guarded) => {
      const onProblem = (what: string, problem: string): void => onError(new Error(`${what}: ${problem}`));
      return openEvidence(guarded, { ...host, onError, scope: new Scope({ setTimer, onProblem }) });
    },
    onStep: ({ step, text, afterMs }) => line("info", { step, text, after_ms: Math.round(afterMs) }, "switchover"),
    onError,
    onEnd: () => process.exit(0),
  });
  process.on("message", (message: ToGuardian) => guard.receive(message));
  process.on("disconnect", () => guard.mainEnded());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  // An exception of one console must not keep the others from being resumed.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) process.on(event, onError);
  // What fails here fails again when a console is opened, and is reported then.
  PgbouncerConsole.load().catch(() => {});
  // The main process may have ended before the listener was added.
  if (!process.connected) process.exit(0);
}

/** Its own lines in the log: the main process may be gone, which writes every other one. */
function line(level: "info" | "warn" | "error", fields: object, msg: string): void {
  process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg })}\n`);
}

function send(message: FromGuardian): void {
  if (message.kind === "taken_over")
    line("warn", { why: message.why }, "the guardian finishes what rolecall has begun");
  // The empty callback ignores errors: the channel has closed then, and "disconnect" follows.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

/** What the run goes on without. */
function onError(error: unknown): void {
  line("error", { problem: error instanceof Error ? error.message : String(error) }, "problem of the guardian");
}
