import type { FeaturesContext } from "../../src/app/host/running-feature.ts";
import { setSystemTimer } from "../../src/core/probe/schedule/system-timer.ts";
import { silentLogger } from "./silent-logger.ts";

/** What features of a process without any cluster depend on. */
export function featuresContext(changes: Partial<FeaturesContext> = {}): FeaturesContext {
  return {
    log: silentLogger,
    metrics: { set: () => {}, count: () => {}, observe: () => {}, remove: () => {} } as never,
    now: () => performance.now(),
    observe: () => performance.now(),
    reading: () => ({ monotonicMs: performance.now(), addedMs: 0 }),
    wall: () => Date.now(),
    random: () => 0,
    newId: () => "id",
    onOutcome: () => () => {},
    record: () => {},
    told: { record: () => {}, adopt: () => {}, drained: () => {}, first: () => {} },
    probes: {
      begin: () => Promise.resolve(),
      end: () => {},
      isActive: () => false,
      ask: () => Promise.resolve(null),
      divide: () => {},
    },
    drains: { begin: () => Promise.reject(new Error("nobody drains")), end: () => null },
    cluster: () => undefined,
    snapshot: () => ({ instance: "i1", sequence: 1, clusters: [], index: new Map() }),
    policy: () => undefined,
    probedAt: () => null,
    reconnectTo: () => {},
    isOwnAddress: () => Promise.resolve(true),
    probeNow: () => {},
    announceChange: () => () => {},
    hint: () => "unknown",
    asked: {
      checks: () => [],
      nodes: () => ({ nodes: new Map(), nonMembers: [] }),
      limits: () => Promise.resolve([]),
    },
    brought: () => ({ found: [], seen: [] }),
    loadedConfig: () => ({ file: null, loaded_at: "2026-01-01T00:00:00.000Z", refused: null }),
    events: { recent: () => [], openCount: () => 0, subscribe: () => () => {} },
    backendCounts: () => Promise.resolve([]),
    publish: () => {},
    isWithdrawn: () => false,
    offers: { process: "i1" },
    changed: () => {},
    contained: (error) => {
      throw error;
    },
    setTimer: setSystemTimer,
    ...changes,
  };
}
