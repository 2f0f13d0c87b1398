import assert from "node:assert/strict";
import type { Config } from "../../src/core/config/model/config.ts";
import { Feeds, type FeedsContext } from "../../src/features/follow/owner/feeds.ts";
import type { Store } from "../../src/core/state/store.ts";
import type { ManualClock } from "./manual-clock.ts";

interface FeedsParts {
  readonly config: () => Config;
  readonly store: Store;
  readonly clock: ManualClock;
}

/** The feeds of an owner whose outcomes do not change and whose nodes nobody drains, unless `changed` says otherwise. */
export function feedsOf({ config, store, clock }: FeedsParts, changed: Partial<FeedsContext> = {}): Feeds {
  let ids = 0;
  return new Feeds({
    config,
    instance: "owner",
    cluster: (name) => store.clusterNamed(name),
    reading: () => ({ monotonicMs: clock.nowMs, addedMs: 0 }),
    setTimer: (run, delayMs) => clock.setTimer(run, delayMs),
    newId: () => String((ids += 1)),
    version: "1",
    onOutcome: () => () => {},
    drains: { begin: () => assert.fail("nobody drains"), end: () => assert.fail("nobody drains") },
    ...changed,
  });
}
