import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { readMarkdown } from "../../../docs/markdown.ts";
import { documentedMetrics } from "../../../fake/documented-metrics.ts";
import { runText } from "../../../fake/command-line.ts";

interface Scenario {
  readonly title: string;
  /** The interval of samples and evaluations; default: 15s. */
  readonly every?: string;
  readonly at: string | readonly string[];
  readonly series?: Readonly<Record<string, string>>;
  readonly fires: readonly Readonly<Record<string, string>>[];
  /** The text of the annotation `situation` of the alerts that have it; empty if left out. */
  readonly situation?: string;
}

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const spec: { readonly healthy: Readonly<Record<string, string>>; readonly scenarios: readonly Scenario[] } = parse(
  readFileSync("test/spec/cli/alerts.yaml", "utf8"),
);
const folder = mkdtempSync(join(tmpdir(), "rolecall-alerts-"));
after(() => rmSync(folder, { recursive: true }));
const skip = spawnSync("promtool", ["--version"]).error === undefined ? false : "not run: promtool is not installed";

async function renderedRules(args: readonly string[] = []): Promise<{ readonly text: string; readonly rules: Rule[] }> {
  const { code, out, err } = await runText(["render", "alerts", ...args]);
  assert.equal(code, 0, err);
  const { groups } = parse(out) as { groups: readonly { readonly rules: readonly Rule[] }[] };
  return { text: out, rules: groups.flatMap(({ rules }) => rules) };
}

const { text, rules } = await renderedRules();
const alerts = rules.filter(({ alert }) => alert !== undefined);

/** The annotations of an alert as Prometheus writes them. */
function expandedAnnotations(
  { annotations = {} }: Rule,
  labels: Readonly<Record<string, string>>,
  situation: string,
): object {
  return Object.fromEntries(
    Object.entries(annotations).map(([name, template]) => [
      name,
      name === "situation"
        ? situation
        : template.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ""),
    ]),
  );
}

/** What promtool expects of every alert at one instant: those of the scenario, and silence of all others. */
function expectedAt(at: string, { fires, situation = "" }: Scenario): readonly object[] {
  return alerts.map((rule) => ({
    eval_time: at,
    alertname: rule.alert,
    exp_alerts: fires
      .filter(({ alert }) => alert === rule.alert)
      .map((fired) => {
        const labels = Object.fromEntries(Object.entries(fired).filter(([name]) => name !== "alert"));
        return {
          exp_labels: { ...labels, ...rule.labels },
          exp_annotations: expandedAnnotations(rule, labels, situation),
        };
      }),
  }));
}

function unitTest(scenario: Scenario): object {
  const series = Object.entries({ ...spec.healthy, ...scenario.series });
  return {
    name: scenario.title,
    interval: scenario.every ?? "15s",
    input_series: series.map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [scenario.at].flat().flatMap((at) => expectedAt(at, scenario)),
  };
}

describe("rendered alert rules", () => {
  test("are accepted by promtool without a warning", { skip }, () => {
    const file = join(folder, "checked.yml");
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", "--lint-fatal", file], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
  });

  test("fire in each scenario of test/spec/cli/alerts.yaml as it says, and only then", { skip }, () => {
    writeFileSync(join(folder, "rules.yml"), text);
    // One run for each interval: promtool has one interval of evaluations.
    const files = [...new Set(spec.scenarios.map(({ every = "15s" }) => every))].map((interval) => {
      const file = join(folder, `scenarios-${interval}.yml`);
      const tests = spec.scenarios.filter(({ every = "15s" }) => every === interval).map(unitTest);
      writeFileSync(file, stringify({ rule_files: ["rules.yml"], evaluation_interval: interval, tests }));
      return file;
    });
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", ...files], { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });

  test("every alert fires in a scenario", () => {
    const fired = new Set(spec.scenarios.flatMap(({ fires }) => fires.map(({ alert }) => alert)));
    assert.deepEqual(
      alerts.map(({ alert }) => alert).filter((alert) => !fired.has(alert)),
      [],
    );
  });

  test("read only metrics that docs/metrics.md lists, and records of their own", () => {
    const records = new Set(rules.flatMap(({ record }) => record ?? []));
    const read = rules.flatMap(({ expr }) => [...expr.matchAll(/\b[\w:]*rolecall_[\w:]+/g)].map(([name]) => name));
    assert.ok(read.length > 20);
    assert.deepEqual(
      read.filter((name) => !records.has(name) && !documentedMetrics.has(name.replace(/_bucket$/, ""))),
      [],
    );
  });

  test("link to a section of docs/alerts.md each, which says what to do", () => {
    const { anchors, prose } = readMarkdown("docs/alerts.md");
    for (const { alert = "", annotations, labels } of alerts) {
      assert.equal(annotations?.["runbook_url"], `docs/alerts.md#${alert.toLowerCase()}`);
      assert.ok(anchors.has(alert.toLowerCase()), `docs/alerts.md has no section ${alert}`);
      assert.match(labels?.["severity"] ?? "", /^(critical|warning)$/);
    }
    const sections = prose.flatMap(({ text: line }) => /^## (Rolecall\w+)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(new Set(sections), new Set(alerts.map(({ alert }) => alert)));
  });

  test("have the names and limits of the reader", async () => {
    const args = [
      "--job",
      "edges",
      "--lag",
      "1MB",
      "--lag-time",
      "none",
      "--docs",
      "https://wiki.example.org/rolecall",
    ];
    const { rules: own } = await renderedRules(args);
    const of = (name: string): Rule => own.find(({ alert }) => alert === name) ?? { expr: "" };
    assert.equal(of("RolecallDown").expr, 'up{job="edges"} == 0');
    assert.match(of("RolecallReplicaLags").expr, /lag_bytes:min > 1048576\)/);
    assert.doesNotMatch(of("RolecallReplicaLags").expr, /lag_seconds/);
    assert.equal(
      of("RolecallNoPrimary").annotations?.["runbook_url"],
      "https://wiki.example.org/rolecall/alerts.md#rolecallnoprimary",
    );
  });

  for (const args of [
    ["--job", 'x"} or up{a="'],
    ["--docs", "https://example.org/{{ x }}"],
    ["--docs", "@x"],
  ])
    test(`${JSON.stringify(args)} is refused, as it is syntax of the file`, async () => {
      const { code, out, err } = await runText(["render", "alerts", ...args]);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, new RegExp(`error RC001  ${args[0]} must`));
    });
});
