/**
 * The chart in a real Helm, where the variable HELM names one: it is linted, its objects are those that the
 * tests without Helm compare, and they are valid in three versions of Kubernetes.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { chart, chartObjects, readObjects, type ReadObject } from "../fake/deployed-objects.ts";
import { kubernetesVersions, validatedManifests } from "./lab/kubernetes-schemas.ts";

const helm = process.env["HELM"];
const skip = helm === undefined ? "not run: HELM names no Helm" : false;
if (skip !== false) console.log(`helm: ${skip}`);

const ports = [
  { name: "postgresql", port: 5432 },
  { name: "api", port: 8008 },
];
/** Values in place of the chart's own. */
const forms: Readonly<Record<string, object>> = {
  own: {},
  elsewhere: { databases: [] },
  withoutApi: { services: [], access: { services: [], configmaps: [], endpoints: [] } },
  leaders: { access: { services: ["a", "b"], configmaps: ["a"], endpoints: ["b"] } },
  split: {
    databases: [{ service: "demo-databases", namespace: "databases", selector: { app: "db" }, ports }],
    monitoring: { enabled: true, labels: { release: "prometheus" } },
  },
  others: parse(readFileSync("test/spec/deploy/chart-values.yaml", "utf8")),
};

describe("the chart in a real Helm", { skip, timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-helm-"));
  const valuesFile = (form: string): string => join(folder, `${form}.yaml`);

  before(() => {
    for (const [form, values] of Object.entries(forms)) writeFileSync(valuesFile(form), stringify(values));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [form, values] of Object.entries(forms)) {
    test(`lint finds nothing: ${form}`, () => {
      const { status, output } = run("lint", "--strict", chart, "--values", valuesFile(form));
      assert.equal(status, 0, output);
    });

    test(`its objects are those that the tests without Helm compare: ${form}`, () => {
      assert.deepEqual(byName(release("--values", valuesFile(form))), byName(chartObjects(values)));
    });
  }

  test("a whole rolecall.yaml replaces the configuration", () => {
    const file = join(folder, "rolecall.yaml");
    const text = '# Ours\nclusters:\n  - name: shop # {{ not a template }}\n    discover: ["http://shop:8008"]\n';
    writeFileSync(file, text);
    const objects = release("--set-file", `configFile=${file}`);
    assert.equal(objects.find(({ kind }) => kind === "ConfigMap")?.data?.["rolecall.yaml"], text);
  });

  for (const [set, message] of [
    ["replica=3", /Additional property replica is not allowed/],
    ["replicas=0", /replicas: Must be greater than or equal to 1/],
    ["service.type=Balancer", /service\.type: .* must be one of/],
  ] as const)
    test(`a release with ${set} is refused`, () => {
      const { status, output } = run(...template(), "--set", set);
      assert.notEqual(status, 0);
      assert.match(output, message);
    });

  for (const version of kubernetesVersions)
    test(`Kubernetes ${version} accepts the objects of a release`, (context) => {
      for (const form of Object.keys(forms)) {
        const file = join(folder, `release-${form}.yaml`);
        // The schemas of Kubernetes do not have the objects of the Prometheus Operator.
        const { status: rendered, stdout } = run(
          ...template(version),
          `--values=${valuesFile(form)}`,
          "--set=monitoring.enabled=false",
        );
        assert.equal(rendered, 0);
        writeFileSync(file, stdout);
        const validated = validatedManifests(version, file);
        if ("notRun" in validated) return context.skip(`not run: ${validated.notRun}`);
        assert.equal(validated.status, 0, validated.output);
        const passed = validated.output.match(/ passed for resource /g)?.length;
        assert.equal(passed, readObjects(stdout).length, validated.output);
      }
    });

  function run(...args: readonly string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly output: string;
  } {
    const { status, stdout, stderr } = spawnSync(helm ?? "", args, { encoding: "utf8", timeout: 30_000 });
    return { status, stdout, output: `${stdout}${stderr}` };
  }

  function template(version = "1.34"): readonly string[] {
    return ["template", "rolecall", chart, "--namespace", "edge", "--kube-version", version];
  }

  function release(...args: readonly string[]): readonly ReadObject[] {
    const { status, stdout, output } = run(...template(), ...args);
    assert.equal(status, 0, output);
    return readObjects(stdout);
  }
});

/** Objects by kind, namespace and name. The hash of the configuration differs by the form of its YAML. */
function byName(objects: readonly ReadObject[]): Readonly<Record<string, unknown>> {
  const named = objects.map((object) => [nameOf(object), withoutHash(object)] as const);
  assert.equal(new Set(named.map(([name]) => name)).size, objects.length);
  return Object.fromEntries(named);
}

function nameOf({ kind, metadata: { namespace = "", name } }: ReadObject): string {
  return [kind, namespace, name].join("/");
}

function withoutHash(object: ReadObject): unknown {
  return JSON.parse(JSON.stringify(object).replace(/"checksum\/config":"[0-9a-f]{16}"/, '"checksum/config":"hash"'));
}
