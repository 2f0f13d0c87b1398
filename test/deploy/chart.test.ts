import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { chart, chartObjects, filesOfChart, objectOf, readObjects, type ReadObject } from "../fake/deployed-objects.ts";

const files = filesOfChart();
const schema: ValueSchema = JSON.parse(files.get("values.schema.json") ?? "");
const ownValues: Readonly<Record<string, unknown>> = parse(files.get("values.yaml") ?? "");
/** Every value with another value than its own. */
const otherValues: Readonly<Record<string, unknown>> = parse(
  readFileSync("test/spec/deploy/chart-values.yaml", "utf8"),
);

interface ValueSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** What `helm` adds: labels that name the release and the chart. They do not change what the objects do. */
const ownLabels = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/version",
  "app.kubernetes.io/managed-by",
  "helm.sh/chart",
];

/**
 * An object without what differs by design: own labels, the namespace, which `kubectl apply` names, and the hash of the
 * configuration, which only a template can have. rolecall.yaml is compared as data.
 */
function comparable(object: ReadObject): unknown {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (ownLabels.includes(key) || key === "namespace") return undefined;
    return key === "rolecall.yaml" ? parse(String(value)) : value;
  });
  return JSON.parse(text.replace(/,"annotations":\{"checksum\/config":"[0-9a-f]{16}"\}/, ""));
}

function byName(objects: readonly ReadObject[]): readonly unknown[] {
  const nameOf = ({ kind, metadata }: ReadObject): string => `${kind}/${metadata.name}`;
  return objects.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other))).map(comparable);
}

function manifests(name: string): readonly ReadObject[] {
  return readObjects(readFileSync(`deploy/kubernetes/${name}.yaml`, "utf8"));
}

describe(chart, () => {
  test("with its own values it has the objects of deploy/kubernetes/rolecall.yaml, in the namespace of the release", () => {
    const found = chartObjects();
    assert.deepEqual(byName(found), byName(manifests("rolecall")));
    // What gives rights, and the Services, are where the configuration has the Services.
    for (const { kind, metadata } of found) {
      const isThere = ["Role", "RoleBinding"].includes(kind) || /-(primary|replicas)$/.test(metadata.name);
      assert.equal(metadata.namespace, isThere ? "databases" : "edge", kind);
    }
    const { subjects } = objectOf(found, "RoleBinding");
    assert.deepEqual(subjects, [{ kind: "ServiceAccount", name: "rolecall", namespace: "edge" }]);
  });

  test("with monitoring.enabled it also has those of deploy/kubernetes/monitoring.yaml", () => {
    const found = chartObjects({ monitoring: { enabled: true, labels: {} } });
    const monitoring = found.filter(({ apiVersion }) => apiVersion.startsWith("monitoring."));
    assert.deepEqual(byName(monitoring), byName(manifests("monitoring")));
    assert.equal(found.length, chartObjects().length + 2);
  });

  test("databases in another namespace have their Service there, and the policy says so", () => {
    const [database] = ownValues["databases"] as readonly object[];
    const objects = chartObjects({ databases: [{ ...database, namespace: "db", selector: { app: "pg" } }] });
    const { metadata, spec } = objectOf(objects, "Service", "demo-databases");
    assert.deepEqual([metadata.namespace, spec.selector], ["db", { app: "pg" }]);
    assert.equal(objectOf(objects, "Deployment").metadata.namespace, "edge");
    assert.deepEqual(objectOf(objects, "NetworkPolicy").spec.egress[2].to, [
      {
        podSelector: { matchLabels: { app: "pg" } },
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "db" } },
      },
    ]);
  });

  test("databases that run elsewhere have no Service, and rolecall may connect anywhere", () => {
    const objects = chartObjects({ databases: [] });
    assert.ok(!objects.some(({ metadata }) => metadata.name === "demo-databases"));
    assert.deepEqual(objectOf(objects, "NetworkPolicy").spec.egress, [{}]);
  });

  test("several clusters have a Service and a rule each, also for exporters and companions", () => {
    const portsOf = (...ports: readonly number[]): readonly object[] => ports.map((port) => ({ name: `p-${port}`, port }));
    const [first] = ownValues["databases"] as readonly object[];
    const other = { service: "shop-databases", selector: { app: "shop" }, ports: portsOf(8008, 9630, 6432) };
    const objects = chartObjects({ databases: [first, other] });
    const [, , ...rules] = objectOf(objects, "NetworkPolicy").spec.egress;
    assert.deepEqual(
      rules.map(({ ports }: { readonly ports: readonly { readonly port: number }[] }) => ports.map(({ port }) => port)),
      [[8008], [8008, 9630, 6432]],
    );
    assert.deepEqual(objectOf(objects, "Service", "shop-databases").spec.ports, other.ports);
  });

  test("each namespace of `access` has the rights of its kind, bound to the account of the release", () => {
    const objects = chartObjects({ access: { services: ["a", "b"], configmaps: ["c"], endpoints: ["a"] } });
    const given = objects
      .filter(({ kind }) => kind === "Role")
      .map(({ metadata, rules = [] }) => [
        metadata.name,
        metadata.namespace,
        rules.flatMap(({ resources }) => resources).join(),
      ]);
    const ofServices = "endpointslices,services,pods,leases,events";
    assert.deepEqual(given, [
      ["rolecall", "a", ofServices],
      ["rolecall", "b", ofServices],
      ["rolecall-configmaps", "c", "configmaps"],
      ["rolecall-endpoints", "a", "endpoints"],
    ]);
    const bound = objects.filter(({ kind }) => kind === "RoleBinding");
    assert.deepEqual(
      bound.map(({ metadata, roleRef }) => [roleRef?.name, metadata.namespace]),
      given.map(([name, namespace]) => [name, namespace]),
    );
    for (const { subjects } of bound)
      assert.deepEqual(subjects, [{ kind: "ServiceAccount", name: "rolecall", namespace: "edge" }]);
  });

  test("without `access` the pods have no token, no account, and no way to the API server", () => {
    const objects = chartObjects({ services: [], access: { services: [], configmaps: [], endpoints: [] } });
    for (const kind of ["ServiceAccount", "Role", "RoleBinding"])
      assert.ok(!objects.some((object) => object.kind === kind), kind);
    const { serviceAccountName, automountServiceAccountToken } = objectOf(objects, "Deployment").spec.template.spec;
    assert.deepEqual([serviceAccountName, automountServiceAccountToken], [undefined, false]);
    assert.equal(objectOf(objects, "NetworkPolicy").spec.egress.length, 2);
    assert.deepEqual(
      objects.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name),
      ["demo-databases", "rolecall"],
    );
  });

  test("every selector selects the pods of the release, and no pods of another one", () => {
    const objects = chartObjects({ monitoring: { enabled: true, labels: {} } });
    const { labels } = objectOf(objects, "Deployment").spec.template.metadata;
    assert.equal(labels["app.kubernetes.io/instance"], "rolecall");
    const service = objectOf(objects, "Service", "rolecall");
    assert.deepEqual(service.spec.selector, labels);
    assert.deepEqual(objectOf(objects, "Deployment").spec.selector.matchLabels, labels);
    assert.deepEqual(objectOf(objects, "PodDisruptionBudget").spec.selector.matchLabels, labels);
    assert.deepEqual(objectOf(objects, "NetworkPolicy").spec.podSelector.matchLabels, labels);
    const { matchLabels } = objectOf(objects, "ServiceMonitor").spec.selector;
    for (const [name, value] of Object.entries(matchLabels)) assert.equal(service.metadata.labels?.[name], value);
  });

  test("another configuration replaces the pods", () => {
    const hashOf = (values: object): unknown =>
      objectOf(chartObjects(values), "Deployment").spec.template.metadata.annotations["checksum/config"];
    assert.match(String(hashOf({})), /^[0-9a-f]{16}$/);
    assert.equal(hashOf({}), hashOf({ replicas: 3 }));
    assert.notEqual(hashOf({}), hashOf({ config: { clusters: [] } }));
    assert.notEqual(hashOf({}), hashOf({ configFile: "clusters: []\n" }));
  });

  test("one instance has no disruption budget, which would block every drain of its machine", () => {
    assert.ok(chartObjects().some(({ kind }) => kind === "PodDisruptionBudget"));
    assert.ok(!chartObjects({ replicas: 1 }).some(({ kind }) => kind === "PodDisruptionBudget"));
  });

  test("each value reaches the objects", () => {
    assert.deepEqual(Object.keys(otherValues), Object.keys(ownValues));
    const text = JSON.stringify(chartObjects(otherValues));
    for (const mark of leaves(otherValues)) assert.ok(text.includes(JSON.stringify(mark).slice(1, -1)), String(mark));
  });

  test("each switch leaves out its objects", () => {
    for (const [group, ...kinds] of [
      ["podDisruptionBudget", "PodDisruptionBudget"],
      ["networkPolicy", "NetworkPolicy"],
      ["monitoring", "ServiceMonitor", "PrometheusRule"],
    ] as const)
      for (const enabled of [true, false]) {
        const objects = chartObjects({ [group]: { ...(ownValues[group] as object), enabled } });
        for (const kind of kinds) assert.equal(objects.some((object) => object.kind === kind), enabled, kind);
      }
  });

  test("its schema accepts these values, its own ones and `global`, and refuses a misspelt one", () => {
    const validate = new Ajv({ strict: false }).compile(schema);
    for (const values of [ownValues, otherValues, { global: { a: 1 } }])
      assert.ok(validate(values), JSON.stringify(validate.errors));
    for (const values of [{ replica: 2 }, { replicas: 0 }, { service: { typ: "NodePort" } }, { image: 1 }])
      assert.ok(!validate({ ...ownValues, ...values }), JSON.stringify(values));
  });

  test("values.yaml has every value of the schema, in its order, with its description above it", () => {
    const described = valuesOf(schema, ownValues);
    const names = described.map(({ name }) => name);
    // What the schema does not describe is a group.
    const groups = Object.entries(ownValues).flatMap(([group, value]) =>
      schema.properties?.[group]?.description === undefined
        ? Object.keys(value as object).map((name) => `${group}.${name}`)
        : [group],
    );
    assert.deepEqual(names, groups);
    const lines = (files.get("values.yaml") ?? "").split("\n").map((line) => line.trim());
    for (const { name, description } of described) {
      const at = lines.indexOf(`# ${description}`);
      const key = lines.slice(at).find((line) => !line.startsWith("#"));
      assert.ok(at !== -1 && key?.startsWith(`${name.split(".").at(-1)}:`), `${name}: # ${description}`);
    }
  });

  test("its README lists every value with its default and its meaning", () => {
    const rows = valuesOf(schema, ownValues).map(({ name, value, description }) => {
      const isLong = JSON.stringify(value).length > 40;
      const shown = isLong ? "see values.yaml" : `\`${JSON.stringify(value).replace(/\d+\.\d+\.\d+/, "VERSION")}\``;
      return `| \`${name}\` | ${shown} | ${description} |`;
    });
    const head = "| value | default | meaning |\n|---|---|---|\n";
    const page = readFileSync("deploy/helm/rolecall/README.md", "utf8");
    const [start = "", rest = ""] = page.split(head);
    const wanted = `${start}${head}${rows.join("\n")}\n${rest.replace(/^(\|.*\n)*/, "")}`;
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync("deploy/helm/rolecall/README.md", wanted);
    assert.equal(readFileSync("deploy/helm/rolecall/README.md", "utf8"), wanted, "UPDATE_DOCS=1 writes it");
  });

  test("the chart has the version of the package", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    const own = parse(files.get("Chart.yaml") ?? "");
    assert.deepEqual([own.version, own.appVersion, ownValues["image"]], [version, version, `rolecall:${version}`]);
  });
});

interface ChartValue {
  /** Its name, such as `service.type`. */
  readonly name: string;
  readonly value: unknown;
  readonly description: string;
}

/** The values with a description; `global` has none: Helm adds it if the chart is part of another one. */
function valuesOf({ properties = {} }: ValueSchema, values: object, prefix = ""): readonly ChartValue[] {
  return Object.entries(properties).flatMap(([name, { description, ...inner }]) => {
    const value: unknown = (values as Readonly<Record<string, unknown>>)[name];
    if (description !== undefined) return [{ name: `${prefix}${name}`, value, description }];
    return typeof value === "object" && value !== null ? valuesOf(inner, value, `${prefix}${name}.`) : [];
  });
}

/** The texts and numbers in a value. */
function leaves(value: unknown): readonly unknown[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
  return typeof value === "boolean" || value === "" ? [] : [value];
}
