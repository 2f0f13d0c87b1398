/** The composition root of a worker process. `workers/worker-process.ts` starts it; it exits with the main process. */
import type { SendHandle } from "node:child_process";
import { containUncaughtExceptions } from "./uncaught-exceptions.ts";
import { saveCodeCache } from "../core/program/cached-bundle.ts";
import { WorkerServer } from "./worker/worker-server.ts";
import type { FromWorker, ToWorker } from "../core/workers/messages.ts";

/** How long a worker that crashed waits for its last message to be sent, in ms. */
const lastMessageMs = 500;

function send(message: FromWorker, socket?: SendHandle): void {
  // The empty callback ignores errors: the channel has closed then, and "disconnect" ends this process.
  if (process.connected) process.send?.(message, socket, { keepOpen: true }, () => {});
}

function crash(error: unknown): void {
  send({ kind: "crashed", problem: textOf(error) });
  setTimeout(() => process.exit(1), lastMessageMs);
}

function textOf(error: unknown): string {
  return String(error instanceof Error ? error.stack : error);
}

function disconnect(): void {
  if (process.connected) process.disconnect();
}

const server = new WorkerServer(send);
// Messages are handled one after the other: a later one must not overtake one that takes time.
let handled: Promise<void> = Promise.resolve();
process.on("message", (message: ToWorker, socket: SendHandle) => {
  handled = handled.then(() => server.handle(message, socket)).catch(crash);
  if (message.kind === "close") void handled.then(disconnect);
  // Later messages go on meanwhile: the open connections get answers.
  if (message.kind === "retire") void handled.then(() => server.retire()).then(disconnect, crash);
});
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
// From here on, `crash` gets only the exceptions that are not contained.
containUncaughtExceptions((error) => send({ kind: "contained", problem: textOf(error) }));
// Only the main process handles signals. A worker exits when the main process sends `close` or has ended.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
// The main process may have ended before this listener was added.
if (!process.connected) process.exit(0);
server.start();
send({ kind: "ready" });
saveCodeCache();
