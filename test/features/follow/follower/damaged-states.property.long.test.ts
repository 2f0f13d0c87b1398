/** States as an owner with a fault, or a hostile one, may send them: read, taken over, judged and shown without an error. */
import "../../../fake/property-seed.ts";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { isObject } from "../../../../src/core/cluster/values/json.ts";
import { clusterStateSchema, sentStateOf } from "../../../../src/features/follow/feed/cluster-state-schema.ts";
import { writtenState } from "../../../../src/features/follow/feed/state-values.ts";
import {
  adoptedCluster,
  outcomesIn,
  withOwnersMembers,
} from "../../../../src/features/follow/follower/adopted-cluster.ts";
import { type Check, parseCheck } from "../../../../src/core/health/check.ts";
import { explanationJson, remarksOn } from "../../../../src/core/health/documents/explanation-document.ts";
import { clusterRow, liveCluster } from "../../../../src/core/health/documents/live-cluster.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { routeOf } from "../../../../src/core/health/route.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../../../fake/config.ts";
import { played, type Scenario } from "../../../fake/scenario.ts";

type Path = readonly (string | number)[];

const room = join("test", "spec", "judgement");

/** Of each table the states after some of its stories, as they are sent. */
const states: readonly unknown[] = readdirSync(room).flatMap((file) => {
  const stories: readonly Scenario[] = parse(readFileSync(join(room, file), "utf8"));
  return stories.slice(0, 12).map((story): unknown => JSON.parse(writtenState(sentStateOf(played(story).cluster))));
});

const config = configOf({
  clusters: [clusterOf({ nodes: ["pg1", "pg2", "pg3"].map((name) => nodeOf({ name, api: `http://${name}:8008` })) })],
});
const [cluster = assert.fail("there is a cluster")] = config.clusters;

const checks: readonly Check[] = [
  "primary",
  "replica?lag=1MB",
  "replica?lag_time=5s",
  "replica?min_lsn=4@0/3000148",
  "replica?keep=2&lag=1",
  "replica?replication_state=streaming",
  "replica?fallback=primary",
  "read-only-sync",
  "primary?for=sessions",
  "standby-leader",
  "liveness",
].map((text) => {
  const [path = "", query = ""] = text.split("?");
  const route = routeOf(path) ?? assert.fail(path);
  const read = parseCheck(route, query, { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 });
  return read.ok ? read.check : assert.fail(text);
});

/** Every part of a value. */
function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((part, at) => placesIn(part, [...path, at]))];
  if (!isObject(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...path, key]))];
}

/** The value with another part at a place. */
function changed(value: unknown, [key, ...rest]: Path, by: (before: unknown) => unknown): unknown {
  if (key === undefined) return by(value);
  if (Array.isArray(value)) return value.map((part: unknown, at) => (at === key ? changed(part, rest, by) : part));
  return isObject(value) ? { ...value, [key]: changed(value[key], rest, by) } : value;
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e13, 1e308, -1e308, 2 ** 53, "Infinity", "-Infinity", [], {}),
  fc.constantFrom("", "pg1", "pg2", "x", "__proto__", "http://x:1"),
  fc.double({ noNaN: true }),
  fc.string(),
);

/** Repeats a list, or puts something in the place of a part. */
const change = fc.tuple(fc.nat(), fc.option(strange, { nil: "twice" }));

function damaged(state: unknown, changes: readonly (readonly [number, unknown])[]): unknown {
  return changes.reduce((before: unknown, [at, by]) => {
    const places = placesIn(before);
    const isTwice = (part: unknown): part is unknown[] => by === "twice" && Array.isArray(part);
    return changed(before, places[at % places.length] ?? [], (part) => (isTwice(part) ? [...part, ...part] : by));
  }, state);
}

/** Shows all that can be shown of a cluster. */
function show(state: ClusterState, { policy }: ClusterFixture, nowMs: number): void {
  const view = viewAt(state, policy, nowMs);
  for (const node of state.nodes) {
    if (node.report !== null) assert.doesNotThrow(() => new Date(node.sentAtWallMs).toISOString());
    for (const check of checks) explanationJson(explain(view, node, check), check, remarksOn(view, node));
  }
  JSON.stringify(clusterRow(liveCluster(view, { asked: [], wallMs: nowMs })));
}

test("a damaged state is refused, or judged and shown as any other", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.constantFrom(...states), fc.array(change, { minLength: 1, maxLength: 2 }), (state, changes) => {
      const schema = clusterStateSchema({ toFollower: (ms) => ms + 1_000, sentAtMs: () => 30_000 });
      const owners = schema.safeParse(damaged(state, changes));
      if (!owners.success || owners.data.name !== "demo") return;
      read += 1;
      assert.ok(owners.data.nodes.every(({ sentAtMs }) => sentAtMs <= 30_000));
      const fixture = new ClusterFixture();
      const known = fixture.cluster;
      for (const taken of [
        adoptedCluster(owners.data, { config: cluster, probe: config.probe }),
        withOwnersMembers(known, owners.data),
      ]) {
        fixture.cluster = taken;
        show(fixture.cluster, fixture, 30_000);
        for (const outcome of outcomesIn(owners.data)) fixture.record(outcome, 30_000);
        show(fixture.cluster, fixture, 31_000);
        fixture.lead("pg1", 32_000);
        fixture.follow("pg2", 32_000);
        fixture.fail("pg3", "timeout", 32_500);
        fixture.nameLeader("pg1", "pg2", 33_000);
        show(fixture.cluster, fixture, 34_000);
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(read > 100, `${read} were read`);
});
