import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { StatusOutcome } from "../../../src/core/cluster/outcome.ts";
import { Store } from "../../../src/core/state/store.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { OutcomeFeed, OutcomeReader } from "../../../src/core/workers/outcome-feed.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { reportOf } from "../../fake/node-documents.ts";

const names = ["pg1", "pg2", "pg3"];
const config = configOf({
  clusters: [clusterOf({ nodes: names.map((name) => nodeOf({ name, api: `http://${name}:8008` })) })],
});

function storeOf(): Store {
  return new Store("run", buildClusters(config, new Map()));
}

interface Step {
  readonly node: string;
  readonly report: "same" | "other" | "none";
  readonly hasLock: boolean;
  readonly passedMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  node: fc.constantFrom(...names),
  report: fc.constantFrom("same" as const, "same" as const, "other" as const, "none" as const),
  hasLock: fc.boolean(),
  passedMs: fc.integer({ min: 0, max: 8_000 }),
});

test("keeps a replica store equal, whatever the nodes report", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [ours, theirs] = [storeOf(), storeOf()];
      const reader = new OutcomeReader();
      const feed = new OutcomeFeed((changes) => {
        // Another process receives a copy.
        for (const { outcome: sent, nowMs, sequence } of structuredClone(changes)) {
          const outcome = reader.read(sent);
          assert.ok(outcome !== undefined);
          theirs.record(outcome, nowMs);
          assert.equal(theirs.current.sequence, sequence);
        }
      });
      ours.onOutcome((...recorded) => feed.add(...recorded));
      const last = new Map(names.map((name) => [name, reportOf(name)]));
      let nowMs = 0;
      for (const { node, report: kind, hasLock, passedMs } of steps) {
        nowMs += passedMs;
        if (kind === "other") last.set(node, reportOf(node, { timeline: 1 + (nowMs % 3) }));
        const report = last.get(node) ?? reportOf(node);
        const result =
          kind === "none" ? { failure: { kind: "timeout", detail: "no answer" } as const } : { report, hasLock };
        ours.record({ kind: "status", cluster: "demo", node, sentAtMs: nowMs, sentAtWallMs: nowMs, result }, nowMs + 5);
      }
      feed.flush();
      assert.deepEqual(theirs.current, ours.current);
    }),
  );
});

function answered(report: ReturnType<typeof reportOf>): StatusOutcome {
  return {
    kind: "status",
    cluster: "demo",
    node: "pg1",
    sentAtMs: 1,
    sentAtWallMs: 1,
    result: { report, hasLock: true },
  };
}

test("sends an unchanged report only once, and changes that come together in one batch", async () => {
  const sent = await new Promise<string>((resolve) => {
    const feed = new OutcomeFeed((changes) =>
      resolve(changes.map(({ outcome, sequence }) => `${outcome.kind} ${sequence}`).join(", ")),
    );
    const report = reportOf("pg1");
    feed.add(answered(report), 1, 1);
    feed.add(answered(report), 2, 2);
  });
  assert.equal(sent, "status 1, same_status 2");
});

test("sends everything in full after a reset; a reader without the earlier report is out of sync", () => {
  const kinds: string[] = [];
  const feed = new OutcomeFeed((changes) => kinds.push(...changes.map(({ outcome }) => outcome.kind)));
  const report = reportOf("pg1");
  feed.add(answered(report), 1, 1);
  feed.flushAndReset();
  feed.add(answered(report), 2, 2);
  feed.flush();
  assert.deepEqual(kinds, ["status", "status"]);
  const newReader = new OutcomeReader();
  assert.equal(
    newReader.read({ kind: "same_status", cluster: "demo", node: "pg1", sentAtMs: 1, sentAtWallMs: 1, hasLock: true }),
    undefined,
  );
});
