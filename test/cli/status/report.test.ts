import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import type { StatusCluster } from "../../../src/core/command/client/cluster-status.ts";
import { styleFor } from "../../../src/core/command/output/style.ts";
import { renderReport, type ReportOptions } from "../../../src/cli/status/report.ts";
import { selectClusters } from "../../../src/cli/status/selection/selection.ts";
import { summarizeStatus } from "../../../src/cli/status/selection/summary-line.ts";
import { mixedClusters, situationWith, statusCluster, statusNode, unfitNode } from "../../fake/status-clusters.ts";

const style = styleFor("never", false, {});

function report(clusters: readonly StatusCluster[], over: Partial<ReportOptions> = {}): string {
  const problemsOnly = over.problemsOnly === true;
  const shown = selectClusters(clusters, { order: "problem", problemsOnly, query: "" });
  const options = { width: Infinity, isWide: false, problemsOnly, style, source: [], config: null, folded: 0, ...over };
  return renderReport(shown, summarizeStatus(clusters), options);
}

const texts: { readonly [name: string]: Partial<ReportOptions> } = {
  "status-60": { width: 60 },
  "status-120": { width: 120 },
  "status-120-wide": { width: 120, isWide: true },
  "status-200-wide": { width: 200, isWide: true },
  "status-60-wide": { width: 60, isWide: true },
  "status-problems": { problemsOnly: true },
};

for (const [name, options] of Object.entries(texts)) {
  test(`the report ${name} is its golden text`, () => {
    const file = `test/spec/cli/golden/${name}.txt`;
    const actual = report(mixedClusters, options);
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, actual);
    assert.equal(actual, existsSync(file) ? readFileSync(file, "utf8") : "");
  });
}

test("a configuration that was refused comes first, without problems of the clusters too", () => {
  const clusters = [statusCluster("shop-1")];
  const first = "rolecall.yaml:4 probe.interval: must be a duration";
  const refused = { at: "2026-11-21T03:12:00Z", problems: 2, first };
  const config = { file: "/etc/rolecall/rolecall.yaml", loaded_at: "2026-11-21T03:10:00Z", refused };
  const line = /^rolecall runs the configuration of 2026-11-2\d \d\d:\d0:00; rolecall\.yaml has 2 problems: (.*)$/;
  for (const problemsOnly of [true, false]) {
    const [top = "", ...rest] = report(clusters, { problemsOnly, config }).split("\n");
    assert.equal(line.exec(top)?.[1], first);
    assert.equal(rest.join("\n"), report(clusters, { problemsOnly }));
  }
  assert.equal(report(clusters, { config: { ...config, refused: null } }), report(clusters));
  const failed = { ...config, refused: null, failed_features: ["audit", "xds"] };
  const [top] = report(clusters, { config: failed }).split("\n");
  assert.match(String(top), /^rolecall runs without audit and xds, which could not be opened: its log says why/);
});

test("traffic that goes elsewhere than it should is a line of its cluster, also where its nodes are well", () => {
  const routes = ["lb1 w/pg1 has 3 sessions, and is superseded", "lb1 w lacks a server for pg4"];
  const clusters = [statusCluster("shop-1"), statusCluster("shop-2", { routes })];
  const line = "  traffic: lb1 w/pg1 has 3 sessions, and is superseded (and 1 more): rolecall status routes\n";
  assert.ok(report(clusters).includes(line));
  const problems = report(clusters, { problemsOnly: true });
  assert.ok(problems.includes(line) && !problems.includes("shop-1"));
});

test("what the situation tells of the traffic is not told again", () => {
  const routes = ["lb1 w/pg1 has 3 sessions, and is superseded", "lb1 w lacks a server for pg4"];
  const situation = situationWith({
    condition: "clients failing",
    wrong: "clients reach the wrong node",
    cause: routes[0] ?? "",
  });
  const told = report([statusCluster("shop", { routes, situation })]);
  assert.ok(told.includes("clients reach the wrong node: lb1 w/pg1 has 3 sessions, and is superseded"));
  assert.ok(told.includes("  traffic: 1 more finding: rolecall status routes\n"));
  assert.doesNotMatch(report([statusCluster("shop", { routes: routes.slice(0, 1), situation })]), /traffic:/);
});

test("a cluster whose canary fails is a problem with each failing one, also where its nodes are well", () => {
  const passed = { state: "committed", text: "tried 1.0 s ago through w: committed on pg1 in 4 ms" };
  const failed = { state: "failed", text: "tried 1.0 s ago through p: ECONNREFUSED connection refused, for 8.0 s" };
  const cause = "clients cannot write through p: ECONNREFUSED connection refused";
  const situation = situationWith({ condition: "clients failing", wrong: "clients fail", cause });
  const clusters = [
    { ...statusCluster("shop-1"), canaries: [passed] },
    { ...statusCluster("shop-2", { situation }), canaries: [passed, failed] },
  ];
  const problems = report(clusters, { problemsOnly: true });
  assert.ok(problems.includes(`  clients fail: ${cause}\n`), problems);
  assert.ok(problems.includes(`  canary: ${failed.text}\n`), problems);
  assert.ok(!problems.includes("shop-1"), problems);
});

test("Services have a line each: those with a problem first, and two of the others", () => {
  const services = ["a", "b", "c", "d", "e"].map((name) => ({
    service: name,
    state: name === "d" ? "differs" : "published",
    problem: name === "e" ? { kind: "away", text: "no answer" } : null,
    text: `${name} leads to 10.0.0.1:5432`,
  }));
  const lines = report([{ ...statusCluster("shop"), services }])
    .split("\n")
    .filter((line) => line.includes("service: "))
    .map((line) => line.trim());
  assert.deepEqual(lines, [
    "service: d leads to 10.0.0.1:5432",
    "service: e leads to 10.0.0.1:5432",
    "service: a leads to 10.0.0.1:5432",
    "service: b leads to 10.0.0.1:5432",
    "service: 1 more without a problem",
  ]);
  assert.doesNotMatch(report([statusCluster("shop")]), /service:/);
});

test("no problems are one sentence", () => {
  const clusters = Array.from({ length: 40 }, (_, index) => statusCluster(`shop-${index + 1}`));
  assert.equal(report(clusters, { problemsOnly: true }), "No problems in 40 clusters.\n");
  assert.equal(report(clusters.slice(0, 1), { problemsOnly: true }), "No problems in 1 cluster.\n");
});

test("a command to run next quotes its words for a shell, and says where the clusters are", () => {
  const nodes = [statusNode("pg1", { role: "primary" }), unfitNode("db $1", "down")];
  const text = report([statusCluster("demo", { nodes })], { source: ["--server http://127.0.0.1:9108"] });
  assert.match(text, /rolecall explain \/replica --node 'demo\/db \$1' --server http:\/\/127\.0\.0\.1:9108\n$/);
});

test("a detached node has its reason in the notes, not also the warning that came before it", () => {
  const warning = "streams from no node, not caught up";
  const nodes = [statusNode("pg1", { role: "primary" }), unfitNode("pg2", "detached", { detail: "17s", warning })];
  assert.match(report([statusCluster("demo", { nodes })]), /NO {2}pg2 .* {2}detached: 17s\n/);
  const lagging = [statusNode("pg1", { role: "primary" }), unfitNode("pg2", "lagging", { warning })];
  assert.match(report([statusCluster("demo", { nodes: lagging })]), /lagging; warning: streams from no node/);
});

test("a failed watchdog is named once, also where the warning names it", () => {
  const noted = (warning: string | null): string =>
    report([
      statusCluster("demo", { nodes: [statusNode("pg1", { role: "primary", watchdog_failed: true, warning })] }),
    ]);
  assert.match(noted(null), /watchdog failed\n/);
  assert.match(noted("looks alive, but 1 session waits; its watchdog has failed"), /its watchdog has failed\n/);
});

test("a reason that a newer server sends has no link, but a command", () => {
  const nodes = [statusNode("pg1", { role: "primary" }), unfitNode("pg2", "brand_new")];
  assert.match(report([statusCluster("demo", { nodes })]), /brand_new \(1 node\)\n {2}rolecall explain/);
});

const word = fc.stringMatching(/^[a-z0-9_.:]{1,14}$/);
const anyNode = fc
  .record({
    node: word,
    role: fc.constantFrom("primary", "replica", "standby_leader", null),
    state: fc.constantFrom("running", "in archive recovery", null),
    reason: fc.constantFrom(null, null, "down", "lagging", "drained", "brand_new"),
    detail: fc.option(fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "))),
    warning: fc.option(fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "))),
    lag_bytes: fc.option(fc.nat()),
    age_ms: fc.option(fc.nat()),
    pending_restart: fc.boolean(),
    tags: fc.dictionary(word, word, { maxKeys: 3 }),
    verdicts: fc.constantFrom({}, { primary: "fit" }, { replica: "fit", sync: "fit", quorum: "fit" }),
  })
  .map((over) => statusNode(over.node, over));
const anyCluster = fc
  .record({
    cluster: word,
    leader: fc.option(word),
    blind: fc.boolean(),
    paused: fc.boolean(),
    nodes: fc.array(anyNode, { maxLength: 5 }),
  })
  .map((over) => statusCluster(over.cluster, over));

test("no line is longer than the terminal is wide, and no word is broken", () => {
  fc.assert(
    fc.property(
      fc.array(anyCluster, { maxLength: 6 }),
      fc.integer({ min: 60, max: 220 }),
      fc.boolean(),
      (clusters, width, isWide) => {
        const known = new Set(report(clusters, { isWide }).split(/\s+/));
        const narrow = report(clusters, { width, isWide });
        for (const line of narrow.split("\n")) assert.ok(line.length <= width, `${line.length} > ${width}: ${line}`);
        const body = narrow.split("\n").filter((line) => !/^not shown in|^ {2}[A-Z, ]+$/.test(line));
        for (const part of body.flatMap((line) => line.split(/\s+/)))
          assert.ok(known.has(part) || part === "\\" || part === "NOTES" || part.endsWith("…"), `a new word: ${part}`);
      },
    ),
    { numRuns: 200 },
  );
});
