/** The ServiceMonitor and the PrometheusRule of deploy/kubernetes, validated strictly against the API of the Prometheus Operator. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pythonPrograms } from "./lab/python-packages.ts";

/** The first three numbers are the version of the operator. */
const version = "0.80.1.0";
const found = pythonPrograms(`prometheus-operator-${version}`, [`cloudcoil-models-prometheus-operator==${version}`]);
const skip = "notRun" in found ? `not run: ${found.notRun}` : false;

/** What is replaced in the objects, and what the validation says then. */
const changes = [
  ["kind: ServiceMonitor", "kind: ServiceMonitor", /^passed$/],
  ["metricRelabelings:", "metricRelabeling:", /^ServiceMonitor: a field is not known$/],
  ["for: 30s", "for: half a minute", /for String should match pattern/],
  ["for: 30s", "fur: 30s", /^PrometheusRule: a field is not known$/],
  ["expr:", "expression:", /expr Field required/],
] as const;

describe("deploy/kubernetes/monitoring.yaml in the API of the Prometheus Operator", { skip, timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-operator-"));
  let results: readonly string[] = [];

  before(() => {
    const text = readFileSync("deploy/kubernetes/monitoring.yaml", "utf8");
    const files = changes.map(([right, wrong], number) => {
      assert.ok(text.includes(right), right);
      const file = join(folder, `${number}.yaml`);
      writeFileSync(file, text.replace(right, wrong));
      return file;
    });
    // One process: it reads the models for some seconds.
    const python = "bin" in found ? join(found.bin, "python3") : "";
    const { status, stdout, stderr } = spawnSync(python, ["test/real/lab/prometheus-operator.py", ...files], {
      encoding: "utf8",
      timeout: 100_000,
    });
    assert.equal(status, 0, stderr);
    results = stdout.trim().split("\n");
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [number, [right, wrong, result]] of changes.entries())
    test(right === wrong ? "are valid" : `are not valid with "${wrong}"`, () => {
      assert.match(results[number] ?? "", result);
    });
});
