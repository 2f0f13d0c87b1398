import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { adminApiAnswers } from "../../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runText } from "../../../fake/command-line.ts";
import { chartObjects, filesOfChart, readObjects, renderChart, type ReadObject } from "../../../fake/rendered-chart.ts";

let server: Awaited<ReturnType<typeof serveCannedAnswers>>;
let folder: string;
/** The folders of all charts. */
const rendered: string[] = [];

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
  folder = (await chartOf(demo())).folder;
});
after(async () => {
  await server.close();
  for (const path of rendered) rmSync(path, { recursive: true });
});

function demo(): readonly string[] {
  return ["--cluster", "demo", "--server", server.url];
}

async function chartOf(args: readonly string[]): ReturnType<typeof renderChart> {
  const chart = await renderChart(args);
  rendered.push(chart.folder);
  return chart;
}

async function manifests(args: readonly string[]): Promise<readonly ReadObject[]> {
  const { code, out, err } = await runText(["render", "kubernetes", ...args]);
  assert.equal(code, 0, err);
  return readObjects(out);
}

/** What `helm` adds: labels that name the release and the chart. They do not change what the objects do. */
const ownLabels = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/version",
  "app.kubernetes.io/managed-by",
  "helm.sh/chart",
];

/** An object without what differs by design: own labels, and the order of the keys in rolecall.yaml with its hash. */
function comparable(object: ReadObject): unknown {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (ownLabels.includes(key)) return undefined;
    return key === "rolecall.yaml" ? parse(String(value)) : value;
  });
  return JSON.parse(text.replace(/"checksum\/config":"[0-9a-f]{16}"/, '"checksum/config":"hash"'));
}

function byName(objects: readonly ReadObject[]): readonly unknown[] {
  const nameOf = ({ kind, metadata }: ReadObject): string => `${kind}/${metadata.name}`;
  return objects.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other))).map(comparable);
}

function objectOf(objects: readonly ReadObject[], kind: string): ReadObject {
  return objects.find((object) => object.kind === kind) ?? assert.fail(`${kind} is missing`);
}

describe("render helm", () => {
  for (const args of [
    [],
    ["--external-databases"],
    ["--image", "registry.example/rolecall:7"],
    ["--database-namespace", "databases", "--database-selector", "app=db,cluster-name=demo"],
  ])
    test(`the chart has the objects of render kubernetes: ${args.join(" ")}`, async () => {
      const chart = await chartOf([...demo(), ...args]);
      const expected = await manifests([...demo(), ...args, "--namespace", "edge"]);
      const found = chartObjects(chart.folder, await withNamespace(chart.folder, args));
      assert.deepEqual(byName(found), byName(expected));
    });

  test("with --monitoring it has the objects of the Prometheus Operator, with the limits of the reader", async () => {
    const options = ["--monitoring", "--lag", "1MB", "--docs", "https://wiki.example.org/"];
    const chart = await chartOf([...demo(), ...options]);
    const expected = await manifests(["--namespace", "edge", ...options]);
    const found = chartObjects(chart.folder).filter(({ apiVersion }) => apiVersion.startsWith("monitoring."));
    assert.deepEqual(byName(found), byName(expected));
  });

  test("every selector selects the pods of the release, and no pods of another one", () => {
    const objects = chartObjects(folder, { monitoring: { enabled: true, labels: {} } });
    const { labels } = objectOf(objects, "Deployment").spec.template.metadata;
    assert.equal(labels["app.kubernetes.io/instance"], "rolecall");
    const service = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === "rolecall");
    assert.deepEqual(service?.spec.selector, labels);
    assert.deepEqual(objectOf(objects, "Deployment").spec.selector.matchLabels, labels);
    assert.deepEqual(objectOf(objects, "PodDisruptionBudget").spec.selector.matchLabels, labels);
    assert.deepEqual(objectOf(objects, "NetworkPolicy").spec.podSelector.matchLabels, labels);
    const { matchLabels } = objectOf(objects, "ServiceMonitor").spec.selector;
    for (const [name, value] of Object.entries(matchLabels)) assert.equal(service?.metadata.labels?.[name], value);
  });

  test("another configuration replaces the pods", () => {
    const hashOf = (values: object): unknown =>
      objectOf(chartObjects(folder, values), "Deployment").spec.template.metadata.annotations["checksum/config"];
    assert.equal(hashOf({}), hashOf({ replicas: 3 }));
    assert.notEqual(hashOf({}), hashOf({ config: { clusters: [] } }));
    assert.notEqual(hashOf({}), hashOf({ configFile: "clusters: []\n" }));
  });

  test("one instance has no disruption budget, which would block every drain of its machine", () => {
    assert.ok(chartObjects(folder).some(({ kind }) => kind === "PodDisruptionBudget"));
    assert.ok(!chartObjects(folder, { replicas: 1 }).some(({ kind }) => kind === "PodDisruptionBudget"));
  });

  test("each value reaches the objects", () => {
    const values = parse(readFileSync("test/spec/cli/chart-values.yaml", "utf8")) as object;
    const named = Object.keys(parse(filesOfChart(folder).get("values.yaml") ?? "") as object);
    assert.deepEqual(Object.keys(values), named);
    const text = JSON.stringify(chartObjects(folder, values));
    for (const mark of leaves(values)) assert.ok(text.includes(JSON.stringify(mark).slice(1, -1)), String(mark));
  });

  test("its schema accepts these values, its own ones and `global`, and refuses a misspelt one", () => {
    const files = filesOfChart(folder);
    const validate = new Ajv({ strict: false }).compile(JSON.parse(files.get("values.schema.json") ?? ""));
    const own = parse(files.get("values.yaml") ?? "") as object;
    const others = parse(readFileSync("test/spec/cli/chart-values.yaml", "utf8")) as object;
    for (const values of [own, others, { global: { a: 1 } }])
      assert.ok(validate(values), JSON.stringify(validate.errors));
    for (const values of [{ replica: 2 }, { replicas: 0 }, { service: { typ: "NodePort" } }, { image: 1 }])
      assert.ok(!validate({ ...own, ...values }), JSON.stringify(values));
  });

  test("docs/kubernetes.md lists every value with its default and its meaning", () => {
    const files = filesOfChart(folder);
    const rows = valueRows(JSON.parse(files.get("values.schema.json") ?? ""), parse(files.get("values.yaml") ?? ""));
    const head = "| value | default | meaning |\n|---|---|---|\n";
    const page = readFileSync("docs/kubernetes.md", "utf8");
    const [start = "", rest = ""] = page.split(head);
    const wanted = `${start}${head}${rows.join("\n")}\n${rest.replace(/^(\|.*\n)*/, "")}`;
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync("docs/kubernetes.md", wanted);
    assert.equal(readFileSync("docs/kubernetes.md", "utf8"), wanted, "UPDATE_DOCS=1 writes it");
  });

  test("without --directory prints every file below its path; with it, the command that installs the chart", async () => {
    const { out } = await runText(["render", "helm", ...demo()]);
    const names = [...filesOfChart(folder).keys()];
    assert.deepEqual(
      [...out.matchAll(/^# ([\w./-]+\.(?:yaml|json|yml|tpl|txt))$/gm)].map(([, name = ""]) => name).toSorted(),
      names,
    );
    const { out: printed, folder: other } = await chartOf([...demo(), "--namespace", "edge"]);
    assert.equal(
      printed,
      `# Install the chart:\nhelm upgrade --install rolecall ${other} --namespace edge --create-namespace\n`,
    );
  });

  test("a directory that cannot be written is an error of its own", async () => {
    const { code, err } = await runText(["render", "helm", ...demo(), "--directory", "/dev/null/chart"]);
    assert.equal(code, 2);
    assert.match(err, /error RC150 {2}Cannot write to \/dev\/null\/chart/);
  });
});

/** With `--namespace`, the manifests name the databases with their namespace; in a chart the option does the same. */
async function withNamespace(chart: string, args: readonly string[]): Promise<object> {
  if (args.includes("--external-databases") || args.includes("--database-namespace")) return {};
  const { folder: other } = await chartOf([...demo(), ...args, "--namespace", "edge"]);
  const config = (of: string): unknown =>
    (parse(filesOfChart(of).get("values.yaml") ?? "") as { config: unknown }).config;
  assert.notDeepEqual(config(other), config(chart));
  return { config: config(other) };
}

interface ValueSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** The rows of the table of values: those with a description. */
function valueRows({ properties = {} }: ValueSchema, values: object, prefix = ""): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const value: unknown = (values as Readonly<Record<string, unknown>>)[name];
    if (schema.description === undefined)
      return typeof value === "object" && value !== null ? valueRows(schema, value, `${prefix}${name}.`) : [];
    const isLong = JSON.stringify(value).length > 40;
    const shown = isLong ? "see values.yaml" : `\`${JSON.stringify(value).replace(/\d+\.\d+\.\d+/, "VERSION")}\``;
    return [`| \`${prefix}${name}\` | ${shown} | ${schema.description} |`];
  });
}

/** The texts and numbers in a value. */
function leaves(value: unknown): readonly unknown[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
  return typeof value === "boolean" || value === "" ? [] : [value];
}
