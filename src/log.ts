import { pino, destination, type Logger } from "pino";
import type { LogConfig } from "./config/config.ts";
import type { Change } from "./metrics/changes.ts";

export type { Logger } from "pino";

/** A log of one JSON line an event, on stderr. Written at once: there are few lines, and the last ones matter most. */
export function makeLog({ level }: LogConfig): Logger {
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, destination({ dest: 2, sync: true }));
}

/** One line a change of role, verdict or reachability (nothing a check). */
export function logChange(log: Logger, { cluster, node, before, after, failure }: Change): void {
  const fields = {
    cluster,
    node,
    ...after,
    ...(before === null ? {} : { before }),
    ...(after.isReachable || failure === null ? {} : { failure }),
  };
  if (before === null) log.info(fields, "node seen");
  else if (before.isReachable !== after.isReachable) log.warn(fields, after.isReachable ? "node answers again" : "node does not answer");
  else log.info(fields, before.role === after.role ? "verdict changed" : "role changed");
}
