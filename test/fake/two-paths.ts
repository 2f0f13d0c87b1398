import assert from "node:assert/strict";
import { type ListenerAccess, unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { FastPathControl } from "../../src/core/http/fast-path/fast-path-control.ts";
import type { ListenerEvents } from "../../src/core/http/listener/listener-events.ts";
import { Listener } from "../../src/core/http/listener/listener.ts";
import type { FastPathCounts } from "../../src/core/http/message/fast-path-counts.ts";
import type { ListenerHandler } from "../../src/core/http/message/handler.ts";
import { NodeApi } from "../../src/core/http/node-api/node-api.ts";
import type { ResponseCache } from "../../src/core/http/node-api/response-cache.ts";
import { exchange } from "./raw-client.ts";
import { type StoreFixture, storeFixture } from "./store-fixture.ts";

const events: ListenerEvents = {
  onError: (error) => {
    throw error;
  },
  onRejected: () => {},
  onFiles: () => {},
};

/** Two listeners on the same evidence with a stopped clock: one with the fast path, one without. */
export interface TwoPaths {
  readonly cluster: StoreFixture;
  readonly cache: ResponseCache;
  readonly fastPort: number;
  readonly ordinaryPort: number;
  readonly counts: () => FastPathCounts;
  /** Why the fast path is off, if it is. */
  readonly offReasons: readonly string[];
  close(): Promise<void>;
}

export async function openTwoPaths(access: ListenerAccess = unrestrictedAccess): Promise<TwoPaths> {
  const cluster = storeFixture();
  const { idleTimeoutMs } = access.limits;
  const cache = new NodeApi(cluster.routingContext, cluster.apiContext()).cached(idleTimeoutMs);
  const offReasons: string[] = [];
  const control = new FastPathControl({ mode: () => "force", onDisabled: (reason) => offReasons.push(reason) });
  const handlerWith = (parts: Pick<ListenerHandler, "cached">): ListenerHandler => {
    const api = new NodeApi(cluster.routingContext, cluster.apiContext());
    return Object.assign((request: Parameters<ListenerHandler>[0]) => api.handle(request), parts);
  };
  const [fast, ordinary] = [
    new Listener(handlerWith({ cached: cache }), access, events),
    new Listener(handlerWith({}), access, events),
  ];
  const target = { address: "127.0.0.1", port: 0 };
  const [fastPort, ordinaryPort] = [await fast.open(target), await ordinary.open(target)];
  await fast.startFastPath(control);
  return {
    cluster,
    cache,
    fastPort,
    ordinaryPort,
    counts: () => control.monitor.counts,
    offReasons,
    close: async () => void (await Promise.all([fast.close(0), ordinary.close(0)])),
  };
}

/** Fails unless both listeners write the same bytes for `pieces` and leave the connection in the same state. */
export async function assertAlike({ fastPort, ordinaryPort }: TwoPaths, pieces: readonly string[]): Promise<void> {
  const bytes = pieces.map((piece) => Buffer.from(piece, "latin1"));
  const [fast, ordinary] = await Promise.all([exchange(fastPort, bytes), exchange(ordinaryPort, bytes)]);
  assert.deepEqual(fast, ordinary);
}
