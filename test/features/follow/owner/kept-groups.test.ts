import { feedsOf } from "../../../fake/feeds-fixture.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type FeedMessage, readFeedMessage } from "../../../../src/features/follow/feed/feed-messages.ts";
import { outcomeShape } from "../../../../src/core/config/outcome-shape.ts";
import { Feeds } from "../../../../src/features/follow/owner/feeds.ts";
import { buildClusters } from "../../../../src/core/state/clusters.ts";
import { Store } from "../../../../src/core/state/store.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";

type Hello = Extract<FeedMessage, { hello: unknown }>["hello"];

/** An owner of so many clusters. */
class ManyClusters {
  readonly #clock = new ManualClock();
  readonly #config;
  readonly #feeds: Feeds;

  constructor(count: number) {
    this.#config = configOf({ clusters: namesOf(count).map((name) => clusterOf({ name })) });
    const store = new Store("run", buildClusters(this.#config, new Map()));
    this.#feeds = feedsOf({ config: () => this.#config, store, clock: this.#clock });
  }

  /** A follower of one cluster comes. @returns how it is greeted, and what it does to leave */
  async open(name: string, group: string | null): Promise<{ readonly hello: Hello; readonly leave: () => void }> {
    const hellos: Hello[] = [];
    const write = (bytes: Buffer): void => {
      const message = readFeedMessage(JSON.parse(gunzipSync(bytes).toString()));
      if (message !== null && "hello" in message) hellos.push(message.hello);
    };
    const cluster = this.#config.clusters.find((each) => each.name === name) ?? assert.fail(name);
    const body = {
      protocol: 1,
      version: "1",
      name: "edge",
      token: 1,
      clusters: [{ name, shape: outcomeShape(cluster, this.#config.probe) }],
      resume: group === null ? null : { group, seq: 0 },
    };
    const caller = { name: "token", principal: null, mayFollow: () => true, mayDrain: () => false };
    const opened = this.#feeds.open(body, caller, () => ({ write, waiting: 0, end: () => {} }));
    assert.equal(opened.kind, "open");
    await this.#clock.pass(10);
    return { hello: hellos[0] ?? assert.fail("no greeting"), leave: opened.ended };
  }
}

const namesOf = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `c${at}`);

/** Followers of one cluster each come, and leave. @returns which of them can continue, in the same order */
async function continuedAfter(count: number): Promise<readonly boolean[]> {
  const owner = new ManyClusters(count);
  const groups: string[] = [];
  for (const name of namesOf(count)) {
    const { hello, leave } = await owner.open(name, null);
    groups.push(hello.group);
    leave();
  }
  const continued: boolean[] = [];
  // The last first: one that comes back is kept no longer as one that has left.
  for (const [at, name] of [...namesOf(count).entries()].toReversed())
    continued.unshift((await owner.open(name, groups[at] ?? null)).hello.resumed);
  return continued;
}

test("a follower that comes back within half a minute continues where it was", async () => {
  assert.deepEqual(
    await continuedAfter(16),
    Array.from({ length: 16 }, () => true),
  );
});

test("followers that come and leave with ever other clusters are not all remembered", async () => {
  assert.deepEqual(
    await continuedAfter(20),
    Array.from({ length: 20 }, (_, at) => at >= 4),
  );
});
