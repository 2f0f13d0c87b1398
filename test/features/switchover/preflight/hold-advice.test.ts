import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { defaultConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";
import { holdAdvice } from "../../../../src/features/switchover/preflight/hold-advice.ts";

interface Row {
  readonly name: string;
  readonly hold: number | null;
  readonly clusters: Readonly<Record<string, readonly [number, number] | null>>;
  readonly advice?: string;
  readonly hint?: string;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/switchover/hold-advice.yaml", "utf8"));

for (const { name, hold, clusters, advice, hint } of rows)
  test(`what doctor says of hold_on_loss: ${name}`, () => {
    const databases = ["orders", "billing"].map((cluster) => ({ cluster }));
    const known = Object.entries(clusters).map(([cluster, times]) => ({
      name: cluster,
      config: times === null ? null : { ...defaultConfig, ttlMs: times[0], loopWaitMs: times[1] },
    }));
    const found = holdAdvice([{ name: "pgb1", databases, holdOnLossMs: hold }], known);
    assert.deepEqual(
      found.map(({ kind, pooler, text }) => `${kind} ${pooler}: ${text}`),
      advice === undefined ? [] : [advice],
    );
    assert.equal(found[0]?.hint, hint);
  });
