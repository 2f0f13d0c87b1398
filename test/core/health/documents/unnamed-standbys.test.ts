import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import type { ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { unnamedStandbys, type UnnamedStandbys } from "../../../../src/core/health/documents/unnamed-standbys.ts";
import type { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { played } from "../../../fake/scenario.ts";

type Senders = readonly Omit<ExporterPage["senders"][number], "replayed">[];

interface Row {
  readonly title: string;
  readonly hasApi?: true;
  readonly pg2: Partial<ExporterPage> | null;
  /** What the list showed one second before. */
  readonly earlier?: Senders;
  readonly senders: Senders;
  readonly found: UnnamedStandbys | null;
}

suite("replicas that no sender list has named", () => {
  for (const row of parse(readFileSync("test/spec/health/unnamed-standbys.yaml", "utf8")) as readonly Row[])
    test(row.title, () => {
      assert.deepEqual(unnamedStandbys(clusterOf(row).cluster), row.found);
    });
});

/** pg1 lists its receivers, pg2 is as the row says, and pg3 is known by its API. */
function clusterOf({ hasApi, pg2, earlier = [], senders }: Row): ClusterFixture {
  const family = "postgres_exporter";
  const listed = (rows: Senders): ExporterPage["senders"] => rows.map((row) => ({ ...row, replayed: 5_000 }));
  return played({
    nodes: [
      { name: "pg1", api: null, exporter: "http://pg1:9187" },
      { name: "pg2", api: hasApi === true ? "http://pg2:8008" : null, exporter: "http://pg2:9187" },
      "pg3",
    ],
    steps: [
      { at: 0, shows: "pg1", page: { family, senders: listed(earlier) } },
      { at: 1, shows: "pg1", page: { family, senders: listed(senders) } },
      { at: 1, follows: "pg3" },
      ...(hasApi === true ? [{ at: 1, follows: "pg2" } as const] : []),
      { at: 1, shows: "pg2", role: pg2?.isInRecovery === false ? "primary" : "replica" },
      ...(pg2 === null ? [] : [{ at: 1, shows: "pg2", page: { family, isInRecovery: true, ...pg2 } } as const]),
    ],
  });
}
