import type { ListenerConfig } from "../config/model/config.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import type { Logger } from "../log/logger.ts";
import { replayEvent } from "./listener-events.ts";
import type { FromWorker } from "./messages.ts";

/** Where the main process tells what a worker reports of itself. */
export interface WorkerReportsContext {
  readonly log: Logger;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  /** Called with an error that only the process-wide handler of a worker caught. */
  readonly onContained: (problem: string) => void;
}

/** Tells what the worker with this number reports of itself. Does nothing with other messages. */
export function tellReport(message: FromWorker, worker: number, context: WorkerReportsContext): void {
  const { log, eventsOf, onContained } = context;
  switch (message.kind) {
    case "event":
      replayEvent(message.event, eventsOf(message.event.listener), worker);
      break;
    case "fast_path_off":
      log.warn({ node: process.version, worker, reason: message.reason }, "fast path off");
      break;
    case "contained":
      onContained(message.problem);
      break;
    case "crashed":
      log.error({ worker, problem: message.problem }, "worker crashed on an internal error");
      break;
    case "opened":
    case "out_of_sync":
    case "ready":
    case "prepared":
    case "report":
  }
}
