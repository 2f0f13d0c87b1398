/** The objects that the files of `deploy/` install in Kubernetes. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { fillTemplates } from "./helm-template.ts";

/** The folder of the chart. */
export const chart = "deploy/helm/rolecall";

/** An object of Kubernetes as a test reads it. */
export interface ReadObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  /** Of a Role. */
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  /** Of a RoleBinding. */
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has its own spec
  readonly spec?: any;
}

/** The files of the chart by name. */
export function filesOfChart(): ReadonlyMap<string, string> {
  const files = readdirSync(chart, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  return new Map(paths.map((path) => [relative(chart, path), readFileSync(path, "utf8")]));
}

/**
 * The objects of a release `rolecall` in the namespace `edge`, as Helm makes them of the chart.
 * @param values values in place of those of the chart
 */
export function chartObjects(values: object = {}): readonly ReadObject[] {
  const files = filesOfChart();
  const { version, appVersion } = parse(files.get("Chart.yaml") ?? "") as {
    readonly version: string;
    readonly appVersion: string;
  };
  const filled = fillTemplates(files, {
    Values: { ...parse(files.get("values.yaml") ?? ""), ...values },
    Release: { Name: "rolecall", Namespace: "edge", Service: "Helm" },
    Chart: { Name: "rolecall", Version: version, AppVersion: appVersion },
  });
  return [...filled.values()].flatMap(readObjects);
}

/** Reads the objects of a file of YAML documents. */
export function readObjects(text: string): readonly ReadObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, [], text);
    const object = document.toJS() as ReadObject | null;
    return object === null ? [] : [object];
  });
}

/** The object of a kind, and of a name if several have this kind. */
export function objectOf(objects: readonly ReadObject[], kind: string, name?: string): ReadObject {
  const found = objects.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  const [object = assert.fail(`${kind} ${name ?? ""} is missing`)] = found;
  assert.equal(found.length, 1, `several objects are a ${kind}`);
  return object;
}
