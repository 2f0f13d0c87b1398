import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import { FollowedDrains } from "../../../../src/features/follow/follower/followed-drains.ts";

interface Row {
  readonly title: string;
  readonly here?: string;
  readonly restored?: string;
  readonly steps: readonly {
    readonly says: readonly string[];
    readonly records?: string;
    readonly expires?: boolean;
  }[];
}

const upstreams = ["http://one", "http://two"];
const rows: readonly Row[] = parse(readFileSync("test/spec/fleet/drains.yaml", "utf8"));

function drainNamed(name: string): Drain | null {
  if (name === "none") return null;
  const [since, until] = ["2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z"];
  const extent = name === "soft" ? "replica" : name === "distrust" ? name : "all";
  return { reason: name, by: "ann", extent, untilMs: 5_000, since, until };
}

for (const { title, here = "none", restored = "none", steps } of rows)
  test(title, () => {
    const followed = new FollowedDrains();
    const drains = new Map<string, Drain>();
    const [own, taken] = [drainNamed(here), drainNamed(restored)];
    if (own !== null) drains.set("pg1", own);
    if (taken !== null) drains.set("pg1", { ...taken, isOfUpstream: true });
    for (const { says, records, expires = false } of steps) {
      if (expires) drains.clear();
      for (const [at, name] of says.entries()) followed.state(upstreams[at] ?? "", "pg1", drainNamed(name));
      const decided = followed.decide({ drains }, upstreams);
      assert.deepEqual(
        decided.filter(({ isChange }) => isChange).map(({ drain }) => drain?.reason ?? "none"),
        records === undefined ? [] : [records],
      );
      for (const { drain } of decided)
        if (drain === null) drains.delete("pg1");
        else drains.set("pg1", drain);
    }
  });
