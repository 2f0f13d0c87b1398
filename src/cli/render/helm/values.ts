import { Document, isMap, isScalar, type Scalar } from "yaml";
import type { Targets } from "../input/targets.ts";
import { databasePods, databasePorts } from "../kubernetes/databases.ts";
import { deploymentDefaults, ports } from "../kubernetes/deployment.ts";
import type { KubernetesOptions } from "../kubernetes/kubernetes-options.ts";
import { podConfig } from "../kubernetes/manifests.ts";

/** A value of the chart. */
export interface ChartValue {
  /** Its name, such as `service.type`. */
  readonly name: string;
  readonly help: string;
  /** Its JSON schema. */
  readonly schema: object;
  readonly value: unknown;
}

const text = { type: "string" };
const isEnabled = { type: "boolean" };
const anyObject = { type: "object" };
const objects = { type: "array", items: anyObject };
const texts = { type: "object", additionalProperties: text };
const count = { type: "integer", minimum: 1 };
const port = { type: "integer", minimum: 1, maximum: 65_535 };

/** One cluster whose databases are pods. */
const database = {
  type: "object",
  additionalProperties: false,
  required: ["service", "selector", "ports"],
  properties: {
    service: text,
    namespace: text,
    selector: { ...texts, minProperties: 1 },
    ports: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["name", "port"],
        properties: { name: text, port },
      },
    },
  },
};

/**
 * The values of the chart, in the order of values.yaml.
 * @param isMonitored whether the objects of the Prometheus Operator are installed
 */
export function chartValues(targets: Targets, options: KubernetesOptions, isMonitored: boolean): readonly ChartValue[] {
  const rows: readonly (readonly [name: string, value: unknown, schema: object, help: string])[] = [
    ["image", options.image, text, "the container image"],
    ["imagePullPolicy", "", { enum: ["", "Always", "IfNotPresent", "Never"] }, "when the image is pulled"],
    ["imagePullSecrets", [], objects, "the Secrets for pulling it, such as `[{ name: registry }]`"],
    ["replicas", deploymentDefaults.replicas, count, "instances. With one there is no PodDisruptionBudget"],
    ["config", podConfig(targets, options), anyObject, "the configuration, rolecall.yaml"],
    ["configFile", "", text, "the text of a whole rolecall.yaml, instead of `config`: `--set-file configFile=FILE`"],
    ["ports.health", ports.health, port, "the port of the health listener in the configuration"],
    ["ports.metrics", ports.metrics, port, "the port of the admin listener in the configuration"],
    [
      "databases",
      databaseValues(targets, options),
      { type: "array", items: database },
      "a headless Service, and a rule of the NetworkPolicy, for each cluster. `[]`: the databases run elsewhere",
    ],
    ["service.type", "", { enum: ["", "ClusterIP", "NodePort", "LoadBalancer"] }, "the type of the Service"],
    ["service.annotations", {}, texts, "annotations of the Service"],
    ["resources", deploymentDefaults.resources, anyObject, "requests and limits of an instance"],
    ["podAnnotations", {}, texts, "annotations of the pods"],
    ["volumes", [], objects, "additional volumes of the pods, such as Secrets with certificates and passwords"],
    ["volumeMounts", [], objects, "where these volumes are mounted"],
    ["nodeSelector", {}, texts, "labels of the machines for the pods"],
    ["tolerations", [], objects, "tolerations of the pods"],
    ["affinity", {}, anyObject, "affinity of the pods"],
    ["priorityClassName", "", text, "the priority class of the pods"],
    ["podDisruptionBudget.enabled", true, isEnabled, "keeps one instance up while machines are drained"],
    ["networkPolicy.enabled", true, isEnabled, "restricts who may connect to rolecall, and to what it connects"],
    ["networkPolicy.extraEgress", [], objects, "additional rules for what rolecall connects to, such as etcd"],
    ["monitoring.enabled", isMonitored, isEnabled, "a ServiceMonitor and a PrometheusRule"],
    [
      "monitoring.labels",
      {},
      texts,
      "additional labels of the ServiceMonitor and the PrometheusRule, by which your Prometheus selects them",
    ],
  ];
  return rows.map(([name, value, schema, help]) => ({ name, value, schema, help }));
}

function databaseValues({ clusters }: Targets, options: KubernetesOptions): readonly object[] {
  return databasePods(clusters, options).map((pods) => ({
    service: pods.service,
    ...(options.databaseNamespace === null ? {} : { namespace: options.databaseNamespace }),
    selector: pods.selector,
    ports: databasePorts(pods),
  }));
}

/** Writes values.yaml, each value with its help. @param comments more lines of comments for its head */
export function valuesText(values: readonly ChartValue[], comments: string): string {
  const fields = nested(
    values,
    ({ value }) => value,
    (group) => group,
  );
  const document = new Document(fields, { aliasDuplicateObjects: false });
  const head = `# The values of the chart. docs/kubernetes.md explains them.\n${comments}`;
  document.commentBefore = head.trimEnd().replaceAll(/^#/gm, "");
  for (const { name, help } of values) {
    const [group = "", inner] = name.split(".");
    const groupKey = keyOf(document.contents, group);
    const key = inner === undefined ? groupKey : keyOf(document.get(group, true), inner);
    if (key !== null) key.commentBefore = ` ${help}`;
    if (groupKey !== null) groupKey.spaceBefore = name !== values[0]?.name;
  }
  return document.toString({ lineWidth: 0 });
}

/** The key of a field of a map; comments belong to it. */
function keyOf(map: unknown, name: string): Scalar | null {
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
  return isScalar(pair?.key) ? pair.key : null;
}

/** Writes values.schema.json, by which Helm refuses misspelt values. */
export function valuesSchema(values: readonly ChartValue[]): string {
  const own = nested(values, ({ help, schema }) => ({ description: help, ...schema }), closedObject);
  // Helm adds `global` if the chart is part of another one.
  const root = { $schema: "http://json-schema.org/draft-07/schema#", ...closedObject({ ...own, global: anyObject }) };
  return `${JSON.stringify(root, null, 2)}\n`;
}

/** The schema of an object that has these properties only. */
function closedObject(properties: object): object {
  return { type: "object", additionalProperties: false, properties };
}

/**
 * An object with one field for each value; `service.type` is the field `type` of the field `service`.
 * @param of the field of a value
 * @param groupOf the field of a group, such as `service`, from the fields of its values
 */
function nested(
  values: readonly ChartValue[],
  of: (value: ChartValue) => unknown,
  groupOf: (fields: object) => object,
): Readonly<Record<string, unknown>> {
  const fields = values.map((value): [string, unknown] => {
    const [group = "", inner] = value.name.split(".");
    if (inner === undefined) return [group, of(value)];
    const members = values.filter(({ name }) => name.startsWith(`${group}.`));
    return [
      group,
      groupOf(Object.fromEntries(members.map((member) => [member.name.slice(group.length + 1), of(member)]))),
    ];
  });
  return Object.fromEntries(fields);
}
