/**
 * The composition root of a guardian process. The feature switchover starts it before anything is paused. It
 * ends when nothing is left to finish, and not by a signal that ends other processes of the service.
 */
import { setSystemTimer } from "../../probe/schedule/system-timer.ts";
import { PgbouncerConsole } from "../../balancing/pgbouncer/console.ts";
import { Guard } from "../../features/switchover/guardian/guard.ts";
import type { FromGuardian, ToGuardian } from "../../features/switchover/guardian/messages.ts";
import { openEvidence } from "../../features/switchover/open-guardian-evidence.ts";
import type { Config } from "../../config/model/config.ts";
import type { DcsSource } from "../../dcs/watch/dcs-source.ts";
import { startProbes } from "../machine/probe-once.ts";
import { featurePushTargets } from "./push-targets.ts";

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

/** The keys of the cluster in its DCS; `null` if none is configured. Nothing of it is loaded before the guardian takes over. */
async function openDcs({ clusters }: Config, cluster: string): Promise<DcsSource | null> {
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined || found.dcs === null) return null;
  const [{ dcsSourceOf }, { readAccess }] = await Promise.all([
    import("../../dcs/dcs-watches.ts"),
    import("../../config/access-material.ts"),
  ]);
  return dcsSourceOf(found, found.dcs, readAccess(found.dcs));
}

const guard = new Guard({
  setTimer: setSystemTimer,
  now: () => performance.now(),
  send,
  open: (guarded) =>
    openEvidence(guarded, { setTimer: setSystemTimer, startProbes, pushTargets: featurePushTargets, openDcs, onError }),
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
