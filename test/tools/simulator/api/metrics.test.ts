import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { metricsText } from "../../../../src/tools/simulator/api/metrics.ts";
import { wordsOf } from "../../../../src/tools/simulator/api/vocabulary.ts";
import { createModelFixture } from "../model-fixture.ts";

/** Names and types in the table of seeds/node-api.md. */
const seed = [
  [
    "gauge",
    "version db_running postmaster_start_time primary standby_leader replica sync_standby quorum_standby xlog_replayed_timestamp",
  ],
  [
    "gauge",
    "xlog_paused db_streaming db_in_archive_recovery db_server_version cluster_unlocked failsafe_mode_is_active",
  ],
  [
    "gauge",
    "failsafe_mode_enabled failsafe_member db_timeline dcs_last_seen pending_restart is_paused db_state failover_priority",
  ],
  ["counter", "xlog_location xlog_received_location xlog_replayed_location"],
].flatMap(([type = "", names = ""]) => names.split(" ").map((name) => [`ha_${name}`, type] as const));

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: string;
  readonly value: number;
}

/**
 * Reads a page in the text exposition format, line by line: every line must be valid. Comments other than HELP
 * and TYPE are allowed.
 */
function parse(page: string): readonly Family[] {
  assert.ok(page.endsWith("\n"));
  const helps = new Map<string, string>();
  const types = new Map<string, string>();
  const families: Family[] = [];
  for (const line of page.slice(0, -1).split("\n")) {
    const [, kind, of, rest] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? [];
    if (of !== undefined && rest !== undefined) (kind === "HELP" ? helps : types).set(of, rest);
    else if (!line.startsWith("# ")) {
      const [, name = "", labels = "", value = ""] =
        /^(\w+)(\{\w+="(?:[^"\\\n]|\\.)*"(?:,\w+="(?:[^"\\\n]|\\.)*")*\}) (\S+)$/.exec(line) ?? assert.fail(line);
      assert.ok(Number.isFinite(Number(value)), line);
      families.push({
        name,
        labels,
        value: Number(value),
        type: types.get(name) ?? assert.fail(line),
        help: helps.get(name) ?? assert.fail(line),
      });
    }
  }
  return families;
}

const real = (name: string): string => {
  const file = join("test", "vectors", "node-api", "4.1.4", "quorum-steady.json");
  const { nodes } = JSON.parse(readFileSync(file, "utf8")) as { nodes: Record<string, { metrics: { text: string } }> };
  return nodes[name]?.metrics.text ?? assert.fail();
};

describe("metrics", () => {
  const fixture = createModelFixture(3, { synchronous_mode: "quorum" });
  fixture.pass(10_000);

  for (const name of ["pg1", "pg2"]) {
    it(`of ${name} have the names, types, help, labels and order of a real node`, () => {
      const ours = parse(metricsText(fixture.cluster, fixture.node(name), wordsOf("patroni")));
      const theirs = parse(real(name));
      const known = ({ name: metric, type, help, labels }: Family): unknown => [metric, type, help, labels];
      assert.deepEqual(ours.map(known), theirs.map(known));
    });
    it(`of ${name} have the constant values of a real node`, () => {
      const changing = /time|location|dcs_last_seen/;
      const steady = (families: readonly Family[]): unknown =>
        families
          .filter(({ name: metric }) => !changing.test(metric) || metric.includes("timeline"))
          .map(({ name: metric, value }) => [metric, value]);
      assert.deepEqual(
        steady(parse(metricsText(fixture.cluster, fixture.node(name), wordsOf("patroni")))),
        steady(parse(real(name))),
      );
    });
  }

  it("have exactly the names of seeds/node-api.md in the neutral vocabulary", () => {
    const families = parse(metricsText(fixture.cluster, fixture.node("pg1"), wordsOf("neutral")));
    const byName = (a: readonly string[], b: readonly string[]): number => (a.join() < b.join() ? -1 : 1);
    assert.deepEqual(
      families.map(({ name, type }) => [name, type]).sort(byName),
      seed.map(([name, type]) => [name, type]).sort(byName),
    );
  });

  it("have the numbers of the documents", () => {
    const value = (node: string, metric: string): number =>
      parse(metricsText(fixture.cluster, fixture.node(node), wordsOf("neutral"))).find(({ name }) => name === metric)
        ?.value ?? assert.fail(metric);
    assert.deepEqual(fixture.document("pg1", "/leader")["xlog"], { location: value("pg1", "ha_xlog_location") });
    const { received_location, replayed_location } = fixture.document("pg2", "/leader")["xlog"] as Record<
      string,
      number
    >;
    assert.deepEqual(
      [received_location, replayed_location],
      [value("pg2", "ha_xlog_received_location"), value("pg2", "ha_xlog_replayed_location")],
    );
    assert.equal(fixture.document("pg1", "/leader")["dcs_last_seen"], value("pg1", "ha_dcs_last_seen"));
  });

  it("escape a scope with quotes, backslashes and line breaks", () => {
    const odd = { ...fixture.cluster, scope: 'a"b\\c\nd' };
    const [family] = parse(metricsText(odd, fixture.node("pg1"), wordsOf("neutral")));
    assert.equal(family?.labels, '{scope="a\\"b\\\\c\\nd",name="pg1"}');
  });
});
