import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { pageNames, parseExporterPage } from "../../../../src/core/cluster/exporter/exporter-page.ts";
import type { ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { ExpositionReader } from "../../../../src/core/exposition/parser.ts";
import { exporterFixtures } from "../../../fake/fake-exporter.ts";

function pageOf(text: string): ExporterPage | undefined {
  const reader = new ExpositionReader(pageNames);
  reader.push(Buffer.from(text));
  return parseExporterPage(reader.end());
}

suite("recorded pages of real exporters", () => {
  const table = JSON.parse(readFileSync("test/spec/exporter-pages.json", "utf8")) as Record<
    string,
    Partial<ExporterPage>
  >;
  for (const [name, expected] of Object.entries(table)) {
    test(name, () => {
      const page = pageOf(readFileSync(join(exporterFixtures, `${name}-metrics.txt`), "utf8"));
      assert.ok(page !== undefined);
      const actual = Object.fromEntries(
        Object.keys(expected).map((key) => [key, (page as unknown as Record<string, unknown>)[key]]),
      );
      assert.deepEqual(actual, expected);
    });
  }

  test("the neutral vocabulary is equivalent to the upstream's", () => {
    const text = readFileSync(join(exporterFixtures, "pg_exporter-lagging-pg3-metrics.txt"), "utf8");
    assert.deepEqual(
      pageOf(text.replace(/^pg_(?!exporter)/gm, "db_").replace(/^pg_exporter/gm, "exporter")),
      pageOf(text),
    );
  });
});

suite("a missing series is unknown, never 0", () => {
  const rows: readonly [what: string, page: string, expected: Partial<ExporterPage>][] = [
    [
      "NaN positions",
      "pg_up 1\npg_is_in_recovery 1\npg_replay_lsn NaN\npg_lsn NaN\npg_lag NaN\n",
      { replayed: null, lagSeconds: null },
    ],
    [
      "a role that is only remembered while the database is down",
      "pg_up 0\npg_in_recovery 1\n",
      { isUp: false, isInRecovery: null },
    ],
    ["a role while it is up", "pg_up 1\npg_in_recovery 1\n", { isInRecovery: true }],
    [
      "several databases that disagree",
      'pg_static{server="a"} 1\npg_settings_in_hot_standby{server="a"} 0\npg_settings_in_hot_standby{server="b"} 1\n',
      { isInRecovery: null },
    ],
    [
      "newer postgres_exporter's own word",
      "pg_up 1\npg_exporter_last_scrape_error 0\npg_replication_is_replica 0\n",
      { family: "postgres_exporter", isInRecovery: false },
    ],
    [
      "a pooler, even under the namespace pg",
      'pg_up 1\npg_version 11800\npgbouncer_list_items{list="pools"} 3\n',
      { isPooler: true },
    ],
    ["a position past 2^53", "pg_is_in_recovery 0\npg_lsn 1e300\n", { written: null }],
    ["receivers that are gone", "pg_up 1\npg_is_in_recovery 1\n", { receiver: null }],
    ["an intro that is switched off", "pg_timestamp 5\npg_is_in_recovery 0\n", { isUp: null, databaseTimeS: 5 }],
  ];
  for (const [what, text, expected] of rows) {
    test(what, () => {
      const page = pageOf(text);
      assert.ok(page !== undefined);
      assert.deepEqual({ ...page, ...expected }, page);
    });
  }

  test("parseExporterPage rejects a page without a known metric name", () => {
    assert.equal(pageOf("node_load1 0.5\nprocess_open_fds 7\n"), undefined);
    assert.equal(pageOf("<html><body>Postgres exporter</body></html>"), undefined);
  });

  test("positions are non-negative whole numbers or unknown, for any samples", () => {
    const name = fc.constantFrom(...pageNames);
    const value = fc.oneof(fc.double().map(String), fc.constantFrom("0", "1", "NaN", "-1", "9e15", "1e16"));
    const label = fc.constantFrom(
      '{appname="a",pid="1"}',
      '{state="streaming"}',
      "",
      '{sender_host="h",sender_port="x"}',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, label, value), { maxLength: 40 }), (lines) => {
        const page = pageOf(lines.map(([metric, labels, number]) => `${metric}${labels} ${number}\n`).join(""));
        if (page === undefined) return;
        for (const position of [page.written, page.received, page.replayed, page.timeline, page.streaming])
          assert.ok(position === null || (Number.isSafeInteger(position) && position >= 0));
      }),
    );
  });
});
