/**
 * The alert and recording rules stand in deploy/prometheus/rolecall-rules.yml. Kubernetes has copies of them, which
 * `UPDATE_DOCS=1` writes.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { chartObjects, objectOf, readObjects } from "../fake/deployed-objects.ts";

const rules = readFileSync("deploy/prometheus/rolecall-rules.yml", "utf8");

/** The text of the object up to its spec, and the rules as its spec. */
function monitoringWith(text: string): string {
  const [head = ""] = text.split(/(?<=^kind: PrometheusRule\n[^]*?^spec:\n)/m);
  return head + rules.slice(rules.search(/^groups:/m)).replaceAll(/^(?=.)/gm, "  ");
}

const copies: readonly (readonly [file: string, of: (text: string) => string])[] = [
  ["deploy/helm/rolecall/files/rolecall-rules.yml", () => rules],
  ["deploy/kubernetes/monitoring.yaml", monitoringWith],
];

describe("copies of deploy/prometheus/rolecall-rules.yml", () => {
  for (const [file, copyOf] of copies)
    test(`${file} has the same rules`, () => {
      const wanted = copyOf(readFileSync(file, "utf8"));
      if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, wanted);
      assert.equal(readFileSync(file, "utf8"), wanted, "UPDATE_DOCS=1 writes it");
    });

  test("the objects of the Prometheus Operator have the rules", () => {
    const monitoring = readObjects(readFileSync("deploy/kubernetes/monitoring.yaml", "utf8"));
    const release = chartObjects({ monitoring: { enabled: true, labels: {} } });
    for (const objects of [monitoring, release])
      assert.deepEqual(objectOf(objects, "PrometheusRule").spec, parse(rules));
  });
});
