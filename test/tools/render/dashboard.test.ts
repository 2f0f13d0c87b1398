import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { documentedMetrics } from "../../fake/documented-metrics.ts";
import { runText } from "../../fake/command-line.ts";

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly datasource?: object;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: object }[];
}

const text = readFileSync("deploy/grafana/rolecall.json", "utf8");
const { panels, templating }: { panels: readonly Panel[]; templating: { list: readonly { name: string }[] } } =
  JSON.parse(text);
const queries = panels.flatMap(({ targets = [] }) => targets);

describe("the dashboard", () => {
  test("reads only metrics that docs/metrics.md lists", () => {
    const names = queries.flatMap(({ expr }) => [...expr.matchAll(/\brolecall_\w+/g)].map(([name]) => name));
    assert.ok(names.length > 20);
    assert.deepEqual(
      names.filter((name) => !documentedMetrics.has(name.replace(/_bucket$/, ""))),
      [],
    );
  });

  test("takes the series of nodes from whichever instances have them", () => {
    const ofNodes = queries.filter(({ expr }) => expr.includes("rolecall_node_"));
    assert.ok(ofNodes.length > 8);
    for (const { expr } of ofNodes)
      assert.match(expr, /(max|min) by \(cluster, node(, check, reason)?\) \(rolecall_node_/);
  });

  test("counts as failed every probe that was not answered", () => {
    const outcomes = queries.flatMap(({ expr }) => /rolecall_probes_total\{outcome(\S+?),/.exec(expr)?.[1] ?? []);
    assert.deepEqual(outcomes, ['!="answered"']);
  });

  test("selects by its own variables alone, and its data by the one for the data source", () => {
    const variables = new Set(templating.list.map(({ name }) => name));
    const used = [...text.matchAll(/\$\{?(?!__)(\w+)/g)].map(([, name = ""]) => name);
    assert.deepEqual(new Set(used), variables);
    for (const { datasource } of [...queries, ...panels.filter(({ targets }) => targets !== undefined)])
      assert.deepEqual(datasource, { type: "prometheus", uid: "${datasource}" });
  });

  test("has panels with ids of their own, side by side within the grid", () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const owners = new Map<string, string>();
    for (const { title, gridPos, targets = [] } of panels) {
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          const cell = `${x},${y}`;
          assert.equal(owners.get(cell), undefined, `${title} lies on ${owners.get(cell)}`);
          owners.set(cell, title);
        }
    }
  });

  test("selects the job of the reader wherever it selects one", async () => {
    const { code, out, err } = await runText(["render", "dashboard", "--job", "edges/a.b"]);
    assert.equal(code, 0, err);
    assert.equal(out, text.replaceAll('rolecall\\"', 'edges/a.b\\"'));
    const { panels: own }: { readonly panels: readonly Panel[] } = JSON.parse(out);
    const jobs = own.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => /job="(.*?)"/.exec(expr)?.[1] ?? []));
    assert.ok(jobs.length > 8);
    assert.deepEqual(new Set(jobs), new Set(["edges/a.b"]));
  });
});
