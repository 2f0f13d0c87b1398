/** What is derived of a node beside its report (rules 4 to 6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { reportOf } from "../../../fake/node-documents.ts";

test("a damped lag ends with the report after damping was switched off", () => {
  const watched = new ClusterFixture({ policy: { guards: { lagSamples: 2 } } });
  const dampedLag = (): Observation["dampedLag"] | undefined => nodeNamed(watched.cluster, "pg2")?.dampedLag;
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  assert.notEqual(dampedLag(), null);
  const result = { report: reportOf("pg2"), hasLock: false };
  const policy = { ...watched.policy, guards: { ...watched.policy.guards, lagSamples: 1 } };
  const outcome = { kind: "status", cluster: "demo", node: "pg2", sentAtMs: 1_000, sentAtWallMs: 0, result } as const;
  watched.cluster = observe(watched.cluster, outcome, { policy, nowMs: 1_000 });
  assert.equal(dampedLag(), null);
});

test("while a node is measured again by a sender list, the figures of others that it lists stay", () => {
  const watched = new ClusterFixture();
  const leads = (atMs: number, location: number, names: readonly string[]): void =>
    watched.lead("pg1", atMs, {
      timeline: 2,
      xlog: { location },
      replication: names.map((name) => ({ application_name: name, client_addr: name, state: "streaming" })),
    });
  const measured = (name: string) => nodeNamed(watched.cluster, name)?.measured;
  watched.lead("pg1", 0);
  for (const name of ["pg2", "pg3"]) watched.follow(name, 0);
  leads(1_000, 1_000, ["pg3"]);
  watched.follow("pg3", 1_100, { timeline: 2 });
  watched.follow("pg2", 1_100);
  leads(2_000, 2_000, ["pg3"]);
  const before = { pg2: measured("pg2"), pg3: measured("pg3") };
  assert.equal(before.pg3?.timeline, 2);
  assert.notEqual(before.pg2?.timeline, 2);
  leads(3_000, 3_000, ["pg2", "pg3"]);
  assert.equal(measured("pg2")?.timeline, 2);
  assert.equal(measured("pg3"), before.pg3);
});
