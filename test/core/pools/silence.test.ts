/** Which members of a pool are left as they were, because nothing is known for or against them (rule 16). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FailureKind } from "../../../src/core/cluster/values/failure.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { poolMembers } from "../../../src/core/pools/pool-members.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

interface Row {
  readonly given: string;
  /** How the probes of each node fail from 2 s on; `null`: it answers. */
  readonly fails: Readonly<Record<string, FailureKind | null>>;
  /** A node that is silent from the beginning. */
  readonly down?: string;
  /** What is said of pg1, the primary, at 5 s: three of its probes have failed, and two of the others'. */
  readonly said: "silent" | "down";
}

const rows: readonly Row[] = [
  { given: "all nodes time out", fails: { pg1: "timeout", pg2: "timeout", pg3: "timeout" }, said: "silent" },
  {
    given: "there is no route to any",
    fails: { pg1: "unreachable", pg2: "unreachable", pg3: "timeout" },
    said: "silent",
  },
  { given: "the primary alone times out", fails: { pg1: "timeout", pg2: null, pg3: null }, said: "down" },
  { given: "one other answers", fails: { pg1: "timeout", pg2: "timeout", pg3: null }, said: "down" },
  {
    given: "another one refuses: it is heard",
    fails: { pg1: "timeout", pg2: "refused", pg3: "timeout" },
    said: "down",
  },
  { given: "the primary refuses", fails: { pg1: "refused", pg2: "timeout", pg3: "timeout" }, said: "down" },
  { given: "another one was down before", fails: { pg1: "timeout", pg2: "timeout" }, down: "pg3", said: "silent" },
  { given: "no other one was heard before", fails: { pg1: "timeout" }, down: "others", said: "down" },
];

/**
 * The evidence of each node ends when it is older than `max_age`, and that of the node that was asked first ends first:
 * where a probe takes long to fail, before `fall` of them have failed.
 */
const aging: readonly (readonly [string, Row["fails"], Row["said"]])[] = [
  ["all nodes time out", { pg1: "timeout", pg2: "timeout", pg3: "timeout" }, "silent"],
  ["one other answers", { pg1: "timeout", pg2: "timeout", pg3: null }, "down"],
  ["another one refuses", { pg1: "timeout", pg2: "refused", pg3: "timeout" }, "down"],
];
for (const [given, fails, said] of aging)
  test(`${given}, and the evidence of the first one is too old before it counts as down: ${said}`, () => {
    const fixture = new ClusterFixture();
    const names = ["pg1", "pg2", "pg3"];
    for (const [index, name] of names.entries())
      if (name === "pg1") fixture.lead(name, index * 300);
      else fixture.follow(name, index * 300);
    for (const [index, name] of names.entries()) {
      const failure = fails[name] ?? null;
      if (failure !== null) fixture.fail(name, failure, 1_000 + index * 300);
      else fixture.follow(name, 1_000 + index * 300);
    }
    const view = viewAt(fixture.cluster, fixture.policy, fixture.policy.maxAgeMs + 100);
    const { members } = poolMembers(view, plainCheck("primary"));
    const member = members.find(({ observation }) => observation.node.name === "pg1");
    assert.ok(member !== undefined && !member.verdict.fit);
    assert.deepEqual([member.verdict.reason, member.isSilent], ["stale", said === "silent"]);
  });

for (const { given, fails, down, said } of rows)
  test(`${given}: ${said}`, () => {
    const fixture = new ClusterFixture();
    const isDown = (name: string): boolean => down === name || (down === "others" && name !== "pg1");
    for (const at of [0, 1_000, 2_000, 3_000, 4_000])
      for (const [index, name] of ["pg1", "pg2", "pg3"].entries()) {
        // pg1 is asked first.
        const atMs = at + index * 300;
        const failure = isDown(name) ? "timeout" : at < 2_000 ? null : (fails[name] ?? null);
        if (failure !== null) fixture.fail(name, failure, atMs);
        else if (name === "pg1") fixture.lead(name, atMs);
        else fixture.follow(name, atMs);
      }
    const view = viewAt(fixture.cluster, fixture.policy, 4_100);
    const { members } = poolMembers(view, plainCheck("primary"));
    const member = members.find(({ observation }) => observation.node.name === "pg1");
    assert.ok(member !== undefined && !member.verdict.fit);
    assert.deepEqual([member.verdict.reason, member.isSilent], ["down", said === "silent"]);
  });
