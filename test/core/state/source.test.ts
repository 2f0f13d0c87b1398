import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MB, monitored, StandbyPair } from "../../fake/standby-pair.ts";
import { policyOf, type Name } from "../health/arbitraries.ts";

const upTo1MB = { lagBytesMax: MB };
const upTo3s = { lagTimeMsMax: 3_000 };

describe("a standby cluster whose source is configured", () => {
  test("lags behind its source: the leader and its replicas, in bytes and in time", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.leader(100, 100);
    pair.replica(200, 100);
    assert.deepEqual(
      ["pg1", "pg2"].map((node) => pair.lag(node as Name, 300)),
      [
        [0, 0],
        [0, 0],
      ],
    );
    for (let second = 1; second <= 5; second++) {
      pair.main(second * 1_000, 100 + 8 * second);
      pair.leader(second * 1_000 + 100, 100);
      pair.replica(second * 1_000 + 200, 100);
    }
    assert.deepEqual(pair.lag("pg1", 5_300), [40, 5_000]);
    assert.deepEqual(pair.lag("pg2", 5_300), [40, 5_000]);
    for (const limits of [upTo1MB, upTo3s]) {
      assert.equal(pair.ask("pg2", "replica", limits, 5_300), "lagging");
      assert.equal(pair.ask("pg2", "read-only", limits, 5_300), "lagging");
      assert.equal(pair.ask("pg1", "read-only", limits, 5_300), "lagging");
      assert.equal(pair.ask("pg1", "standby-leader", limits, 5_300), "lagging");
    }
    assert.equal(pair.ask("pg1", "standby-leader", {}, 5_300), "fit");
    assert.equal(pair.ask("pg1", "leader", upTo1MB, 5_300), "fit");
    assert.equal(pair.ask("pg2", "replica", {}, 5_300), "fit");
    assert.equal(pair.ask("pg2", "replica", { lagBytesMax: 40 * MB }, 5_300), "fit");
  });

  test("adds a replica's lag behind its own leader", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.leader(100, 99);
    pair.replica(200, 97);
    assert.equal(pair.lag("pg1", 300)[0], 1);
    assert.equal(pair.lag("pg2", 300)[0], 3);
  });

  test("has an unknown lag while the source's position is not known, is of another system, or no node answers", () => {
    const pair = new StandbyPair();
    pair.leader(0, 100);
    pair.replica(100, 100);
    assert.equal(pair.ask("pg2", "replica", upTo1MB, 200), "lag_unknown");
    assert.equal(pair.ask("pg1", "standby-leader", upTo3s, 200), "lag_unknown");
    assert.equal(pair.ask("pg2", "replica", {}, 200), "fit");
    pair.main(1_000, 100, { system: "7300000000000000999" });
    pair.leader(1_100, 100);
    pair.replica(1_200, 100);
    assert.equal(pair.ask("pg2", "replica", upTo1MB, 1_300), "lag_unknown");
    const silent = new StandbyPair();
    silent.main(0, 100);
    silent.leader(5_000, 100);
    silent.replica(5_100, 100);
    assert.equal(silent.ask("pg2", "replica", upTo1MB, 5_200), "fit");
    silent.leader(6_000, 100);
    silent.replica(6_100, 100);
    assert.equal(silent.ask("pg2", "replica", upTo1MB, 6_200), "lag_unknown");
  });

  test("judges anew when the source advances, and tells who listens", () => {
    const pair = new StandbyPair();
    const changed: string[] = [];
    pair.store.onChange((before, after) => changed.push(`${after.name} ${before.revision !== after.revision}`));
    pair.main(0, 100);
    assert.deepEqual(changed.splice(0), ["main true", "standby true"]);
    pair.leader(100, 100);
    assert.deepEqual(changed.splice(0), ["standby true"]);
    pair.main(1_000, 108);
    assert.deepEqual(changed.splice(0), ["main true", "standby true"]);
    assert.equal(pair.store.current.clusters[0]?.source, pair.store.current.clusters[1]);
  });

  test("counts a promoted standby cluster's own primary as without lag", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.leader(100, 90, { role: "primary", location: 90 * MB, received: null, replayed: null, timeline: 2 });
    assert.equal(pair.ask("pg1", "primary", upTo1MB, 200), "fit");
    assert.equal(pair.ask("pg1", "read-only", upTo1MB, 200), "fit");
  });

  test("keeps its lag in time while the source's primary fails over, and counts it afterwards", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.status("main", "pg2", 50, { role: "replica", timeline: 1, received: 100 * MB, replayed: 100 * MB });
    pair.leader(100, 100);
    pair.replica(200, 100);
    const silence = (fromMs: number, tillMs: number): void => {
      for (let atMs = fromMs; atMs < tillMs; atMs += 1_000) {
        pair.fail("main", "pg1", atMs);
        pair.status("main", "pg2", atMs + 50, { role: "replica", timeline: 1, received: 100 * MB, replayed: 100 * MB });
        pair.leader(atMs + 100, 100);
        pair.replica(atMs + 200, 100);
      }
    };
    silence(1_000, 45_000);
    assert.ok((pair.lag("pg2", 44_300)[1] ?? Infinity) < 1_000, "held");
    assert.equal(pair.ask("pg2", "replica", { ...upTo1MB, ...upTo3s }, 44_300), "fit");
    assert.equal(pair.ask("pg1", "standby-leader", upTo3s, 44_300), "fit");
    silence(45_000, 60_000);
    assert.equal(pair.ask("pg2", "replica", upTo3s, 59_300), "lagging", "not longer than the source's own replicas");
    assert.equal(pair.ask("pg2", "replica", upTo1MB, 59_300), "fit");
    pair.status("main", "pg2", 60_000, { hasLock: true, role: "primary", timeline: 2, location: 101 * MB });
    pair.leader(60_100, 101, { timeline: 2 });
    pair.replica(60_200, 101);
    assert.equal(pair.ask("pg2", "replica", { ...upTo1MB, ...upTo3s }, 60_300), "fit");
  });

  test("gains no hold for a replica that has not replayed what it received", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.status("main", "pg2", 50, { role: "replica", timeline: 1, received: 100 * MB, replayed: 100 * MB });
    pair.leader(100, 100);
    for (let atMs = 1_000; atMs < 10_000; atMs += 1_000) {
      pair.fail("main", "pg1", atMs);
      pair.status("main", "pg2", atMs + 50, { role: "replica", timeline: 1, received: 100 * MB, replayed: 100 * MB });
      pair.leader(atMs + 100, 100);
      pair.status("standby", "pg2", atMs + 200, {
        role: "replica",
        timeline: 1,
        received: 100 * MB,
        replayed: 99 * MB,
      });
    }
    assert.equal(pair.ask("pg2", "replica", upTo3s, 9_300), "lag_unknown", "no sample is so low");
    assert.equal(pair.ask("pg1", "standby-leader", upTo3s, 9_300), "fit");
  });

  test("no longer lags behind its source once it is promoted", () => {
    const pair = new StandbyPair();
    pair.main(0, 100);
    pair.leader(100, 90);
    pair.replica(200, 90);
    assert.equal(pair.ask("pg2", "replica", upTo1MB, 300), "lagging");
    pair.leader(1_100, 90, { role: "primary", location: 90 * MB, received: null, replayed: null, timeline: 2 });
    pair.status("standby", "pg2", 1_200, { role: "replica", timeline: 2, received: 90 * MB, replayed: 90 * MB });
    assert.equal(pair.ask("pg2", "replica", { ...upTo1MB, ...upTo3s }, 1_300), "fit");
    assert.deepEqual(pair.lag("pg1", 1_300), [0, 0]);
    // The source is gone with its site.
    for (let atMs = 2_000; atMs < 30_000; atMs += 1_000) {
      pair.leader(atMs, 90, { role: "primary", location: 90 * MB, received: null, replayed: null, timeline: 2 });
      pair.status("standby", "pg2", atMs + 100, { role: "replica", timeline: 2, received: 90 * MB, replayed: 90 * MB });
    }
    assert.equal(pair.ask("pg2", "replica", { ...upTo1MB, ...upTo3s }, 29_300), "fit");
  });

  test("counts from the primary at the end of a chain, and from the middle once that is promoted", () => {
    const chain = new StandbyPair([monitored("standby", "middle"), monitored("middle", "main"), monitored("main")]);
    chain.main(0, 100);
    chain.status("middle", "pg1", 50, {
      hasLock: true,
      role: "standby_leader",
      timeline: 1,
      received: 96 * MB,
      replayed: 96 * MB,
    });
    chain.leader(100, 96);
    chain.replica(200, 96);
    assert.equal(chain.lag("pg1", 300)[0], 4, "the middle lags too");
    assert.equal(chain.ask("pg2", "replica", upTo1MB, 300), "lagging");
    chain.status("middle", "pg1", 1_000, { hasLock: true, role: "primary", timeline: 2, location: 96 * MB });
    chain.leader(1_100, 96);
    chain.replica(1_200, 96);
    assert.equal(chain.ask("pg2", "replica", upTo1MB, 1_300), "fit");
    const changed: string[] = [];
    chain.store.onChange((before, after) => changed.push(`${after.name} ${before.revision !== after.revision}`));
    chain.main(2_000, 101);
    assert.deepEqual(changed, ["main true", "middle true", "standby true"]);
  });

  test("is compared with the source as soon as that is known: after a restart its nodes may answer first", () => {
    const pair = new StandbyPair();
    pair.leader(0, 100);
    pair.replica(100, 100);
    pair.main(200, 104);
    assert.equal(pair.ask("pg2", "replica", upTo1MB, 300), "lagging");
    assert.equal(pair.ask("pg2", "replica", { lagBytesMax: 4 * MB }, 300), "fit");
  });

  test("gets, loses and changes its source by a reload", () => {
    const pair = new StandbyPair([monitored("standby"), monitored("main"), monitored("other")]);
    const asked = (): string => pair.ask("pg2", "replica", upTo1MB, 300);
    pair.main(0, 104);
    pair.status("other", "pg1", 50, { hasLock: true, location: 100 * MB, timeline: 1 });
    pair.leader(100, 100);
    pair.replica(200, 100);
    assert.equal(asked(), "fit");
    const reloaded = (source?: string): void => {
      const { clusters } = pair.store.current;
      pair.store.replace(
        clusters.map((cluster) => ({
          cluster,
          policy: cluster.name === "standby" && source !== undefined ? { ...policyOf(), source } : policyOf(),
        })),
      );
    };
    reloaded("main");
    assert.equal(asked(), "lagging");
    reloaded("other");
    assert.equal(asked(), "fit");
    reloaded("gone");
    assert.equal(asked(), "fit", "a source that is not monitored is a problem of the configuration, not of the nodes");
    reloaded();
    assert.equal(asked(), "fit");
    assert.equal(pair.store.current.clusters[0]?.source, null);
  });
});
