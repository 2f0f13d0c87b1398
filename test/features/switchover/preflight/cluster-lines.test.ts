import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { unreadDcs } from "../../../../src/core/cluster/dcs.ts";
import { type ClusterView, viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { candidateLines } from "../../../../src/features/switchover/preflight/candidate-lines.ts";
import { clusterLines } from "../../../../src/features/switchover/preflight/cluster-lines.ts";
import { forecastLine, forecastOf } from "../../../../src/features/switchover/preflight/forecast.ts";
import { leaderLine } from "../../../../src/features/switchover/preflight/leader-lines.ts";
import type { SwitchoverStart } from "../../../../src/features/switchover/machine/plan.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";

interface RowNode {
  /** Default: what its role says. */
  readonly hasLock?: boolean;
  readonly received?: number;
  readonly fields?: StatusFields;
}

/** A row of the table; its first lines say what a missing key is. */
interface Row {
  readonly name: string;
  readonly leader?: string;
  /** Default: `request`. */
  readonly start?: SwitchoverStart;
  readonly candidate?: string;
  /** Whether rolecall writes the file of a pooler. Default: it does not. */
  readonly isWritten?: boolean;
  readonly nodes?: Readonly<Record<string, RowNode | null>>;
  readonly settings?: object;
  /** The scheduled switchover of the cluster document. */
  readonly scheduled?: object;
  /** Whom the DCS names; `unreadable`: it cannot be read. Without it none is configured. */
  readonly dcs?: string;
  readonly afterMs?: number;
  readonly lines: readonly string[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/switchover/preflight-cluster.yaml", "utf8"));
const names = ["pg1", "pg2", "pg3"];

function viewOf({
  nodes = {},
  settings = {},
  scheduled,
  dcs,
  afterMs = 100,
}: Omit<Row, "name" | "lines">): ClusterView {
  const fixture = new ClusterFixture({ nodes: names });
  if (dcs !== undefined) {
    fixture.cluster = { ...fixture.cluster, dcs: unreadDcs };
    fixture.readDcs(dcs, 0);
  }
  const config = { ttl: 30, loop_wait: 10, retry_timeout: 10, maximum_lag_on_failover: 1_000, ...settings };
  fixture.document("config", { of: "pg1", value: config }, 0);
  for (const name of names) {
    const node = nodes[name] === undefined ? {} : nodes[name];
    if (node === null) continue;
    const { received = 5_000, hasLock, fields = {} } = node;
    const role = fields["role"] ?? (name === "pg1" ? "primary" : "replica");
    const xlog =
      role === "primary" ? { location: 5_000 } : { received_location: received, replayed_location: received };
    fixture.answer(name, { hasLock: hasLock ?? role !== "replica", fields: { role, xlog, ...fields } }, 0);
  }
  const value = { scope: "demo", members: [], scheduled_switchover: scheduled };
  if (scheduled !== undefined) fixture.document("cluster", { of: "pg1", value }, 0);
  return viewAt(fixture.cluster, fixture.policy, afterMs);
}

suite("the lines about a cluster, its leader and its candidates", () => {
  for (const row of rows)
    test(row.name, () => {
      const view = viewOf(row);
      const lines = [
        leaderLine(view, row.leader ?? null, row.start),
        ...candidateLines(view, row.candidate ?? null, row.isWritten ?? false),
        ...clusterLines(view),
      ];
      assert.deepEqual(
        lines.map(({ level, subject, text }) => `${level} ${subject}: ${text}`),
        row.lines,
      );
      for (const { level, hint } of lines) {
        if (level === "ok") assert.equal(hint, null);
        else assert.match(hint ?? "", /^[A-Z].*\.$/);
      }
    });
});

suite("the forecast", () => {
  const forecasts: readonly (readonly [string, string | null, readonly number[], string, number?])[] = [
    [
      "balancers that only check",
      "4.0.6",
      [],
      "ok clients will wait about 2.7 s (measured with Patroni 4.1.4; balancers that check rolecall add up to 1.5 s)",
      1_500,
    ],
    [
      "what was seen, which has all in it",
      null,
      [1_664],
      "ok clients will wait about 1.7 s (median of the last 1 switchover here)",
      1_500,
    ],
    ["Patroni 3", "3.0.2", [], "ok clients will wait about 1.9 s (measured with Patroni 3.0.2)"],
    ["Patroni 4", "4.0.6", [], "ok clients will wait about 2.7 s (measured with Patroni 4.1.4)"],
    ["an older Patroni", "2.1.7", [], "ok clients will wait about 1.9 s (measured with Patroni 3.0.2)"],
    ["no version", null, [], "ok not known: no switchover was seen, and the leader does not state Patroni's version"],
    ["one switchover", null, [1_664], "ok clients will wait about 1.7 s (median of the last 1 switchover here)"],
    [
      "an even number",
      "4.1.4",
      [1_000, 3_000],
      "ok clients will wait about 2.0 s (median of the last 2 switchovers here)",
    ],
    [
      "the last ten count",
      "4.1.4",
      [...Array.from({ length: 20 }, () => 9_000), 1, 1, 1, 1, 1_500, 1_500, 9_000, 9_000, 9_000, 9_000],
      "ok clients will wait about 1.5 s (median of the last 10 switchovers here)",
    ],
    [
      "longer than the deadline",
      null,
      [15_000],
      "warning clients will wait about 15.0 s (median of the last 1 switchover here): at the deadline of 15 s they go on without a primary",
    ],
  ];
  for (const [name, version, heldMs, expected, routeWaitMs = 0] of forecasts)
    test(name, () => {
      const patroni = { name: "pg1", scope: "demo", ...(version === null ? {} : { version }) };
      const forecast = forecastOf(viewOf({ nodes: { pg1: { fields: { patroni } } } }), { heldMs, routeWaitMs });
      const { level, subject, text } = forecastLine(forecast, 15_000);
      assert.deepEqual([subject, `${level} ${text}`], ["forecast", expected]);
    });
});
