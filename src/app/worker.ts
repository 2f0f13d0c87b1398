/** What a worker process runs: `crew.ts` starts it, and it ends with the first process. */
import type { SendHandle } from "node:child_process";
import { installLastResort } from "./last-resort.ts";
import { WorkerServer } from "./worker-server.ts";
import type { FromWorker, ToWorker } from "../workers/messages.ts";

/** Long enough for the last word to be sent, in ms. */
const lastWordMs = 500;

function send(message: FromWorker, socket?: SendHandle): void {
  if (process.connected) process.send?.(message, socket, { keepOpen: true }, () => {}); // where nobody hears it, "disconnect" follows
}

function crash(error: unknown): void {
  send({ kind: "crashed", problem: textOf(error) });
  setTimeout(() => process.exit(1), lastWordMs);
}

function textOf(error: unknown): string {
  return String(error instanceof Error ? error.stack : error);
}

const follower = new WorkerServer(send);
// One message after the other: what takes time must not be overtaken.
let before: Promise<void> = Promise.resolve();
process.on("message", (message: ToWorker, socket: SendHandle) => {
  before = before.then(() => follower.take(message, socket)).catch(crash);
  if (message.kind === "close") void before.then(() => process.disconnect());
});
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
installLastResort((error) => send({ kind: "contained", problem: textOf(error) }));
// Signals are for the first process; a worker ends when that says so, or is gone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
send({ kind: "ready" });
