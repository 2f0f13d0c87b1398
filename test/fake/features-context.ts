import type { FeaturesContext } from "../../src/app/host/running-feature.ts";
import { setSystemTimer } from "../../src/probe/schedule/system-timer.ts";
import { silentLogger } from "./silent-logger.ts";

/** What features of a process without any cluster depend on. */
export function featuresContext(changes: Partial<FeaturesContext> = {}): FeaturesContext {
  return {
    log: silentLogger,
    metrics: { set: () => {}, count: () => {}, observe: () => {}, remove: () => {} } as never,
    now: () => performance.now(),
    observe: () => performance.now(),
    wall: () => Date.now(),
    cluster: () => undefined,
    snapshot: () => ({ instance: "i1", sequence: 1, clusters: [], index: new Map() }),
    policy: () => undefined,
    probedAt: () => null,
    reconnectTo: () => {},
    isOwnAddress: () => Promise.resolve(true),
    probeNow: () => {},
    announceChange: () => () => {},
    hint: () => "unknown",
    backendCounts: () => Promise.resolve([]),
    publish: () => {},
    offers: { process: "i1" },
    changed: () => {},
    contained: (error) => {
      throw error;
    },
    setTimer: setSystemTimer,
    ...changes,
  };
}
