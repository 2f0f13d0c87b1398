import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { noDiskFigures, type ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { parseLsn } from "../../../../src/core/cluster/values/lsn.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { remarksOn } from "../../../../src/core/health/documents/explanation-document.ts";
import { wedgedPrimary, wedgedText } from "../../../../src/core/health/conditions/wedged.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { primaryPage } from "../../../fake/exporter-page.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";
import { end } from "../../../fake/situations.ts";

interface PageRow {
  readonly wal?: number;
  readonly files?: number;
  readonly other?: number;
  readonly bytes?: number;
  readonly unflushed?: number;
  readonly moves?: boolean;
  readonly recovery?: boolean;
}

interface Row {
  readonly title: string;
  readonly pages: readonly (PageRow | "fails")[];
  readonly at?: number;
  /** The position in the last report of the primary. */
  readonly reported?: string;
  readonly fields?: StatusFields;
  readonly liveness?: { readonly [second: string]: "alive" | "dead" };
  /** What each node states as `dcs_last_seen`. */
  readonly contact?: { readonly [node: string]: number | "moves" };
  readonly wedged: string | null;
}

suite("a primary that only looks alive", () => {
  for (const row of parse(readFileSync("test/spec/health/wedged.yaml", "utf8")) as readonly Row[])
    test(row.title, () => {
      const atMs = (row.at ?? 3 * row.pages.length + 0.5) * 1_000;
      const { cluster, policy } = played(row, atMs);
      const view = viewAt(cluster, policy, atMs);
      const found = wedgedPrimary(view);
      assert.equal(found === null ? null : wedgedText(found), row.wedged);
      if (found !== null) assert.equal(found.node, "pg1");
      // What is said of its watchdog is said once.
      const primary = nodeNamed(cluster, "pg1");
      const remarks = primary === undefined ? "" : remarksOn(view, primary).join("; ");
      assert.equal(remarks.split("watchdog").length - 1, row.fields?.["watchdog_failed"] === true ? 1 : 0, remarks);
    });
});

/** Reports at every second, and the pages of the primary's exporter at every third. */
function played({ pages, reported, fields, liveness = {}, contact = {} }: Row, untilMs: number): ClusterFixture {
  const nodes = [{ name: "pg1", api: "http://pg1:8008", exporter: "http://pg1:9630" }, "pg2", "pg3"];
  const fixture = new ClusterFixture({ nodes, policy: { pageMaxAgeMs: 11_000 } });
  let position = end;
  for (let second = 0; second * 1_000 <= untilMs; second += 1) {
    const atMs = second * 1_000;
    const page = second > 0 && second % 3 === 0 ? pages[second / 3 - 1] : undefined;
    if (page !== undefined && page !== "fails" && page.moves === true) position += 512;
    const isLast = (second + 1) * 1_000 > untilMs;
    const location = isLast && reported !== undefined ? parseLsn(reported) : position;
    fixture.lead("pg1", atMs, { xlog: { location }, ...seen("pg1", contact, second), ...fields });
    for (const name of ["pg2", "pg3"]) {
      const xlog = { received_location: position, replayed_location: position };
      fixture.follow(name, atMs, { xlog, ...seen(name, contact, second), ...fields });
    }
    const state = liveness[second];
    if (state !== undefined) fixture.recordLiveness("pg1", state === "alive", atMs);
    if (page === undefined) continue;
    const result =
      page === "fails"
        ? ({ endpoint: "metrics", failure: { kind: "timeout", detail: "timeout" } } as const)
        : ({ endpoint: "metrics", page: pageOf(page, position) } as const);
    fixture.record(
      { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs, result },
      atMs,
    );
  }
  return fixture;
}

function seen(node: string, contact: NonNullable<Row["contact"]>, second: number): StatusFields {
  const stated = contact[node];
  return stated === undefined
    ? {}
    : { dcs_last_seen: stated === "moves" ? 1_000 + 10 * Math.floor(second / 10) : stated };
}

function pageOf({ wal, files, other, bytes, unflushed, recovery }: PageRow, position: number): ExporterPage {
  return {
    ...primaryPage,
    isInRecovery: recovery === true,
    written: position,
    disk: {
      ...noDiskFigures,
      ...(unflushed === undefined ? {} : { inserted: position + unflushed, flushed: position }),
      walWaits: wal ?? null,
      fileWaits: files ?? (wal === undefined ? null : 0),
      otherWaits: other ?? null,
      databaseBytes: bytes ?? null,
    },
  };
}
