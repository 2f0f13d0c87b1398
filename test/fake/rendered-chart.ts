/** The chart that `rolecall render helm` writes, and its objects. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { runText } from "./command-line.ts";
import { fillTemplates } from "./helm-template.ts";
import { temporaryFolder } from "./temporary-folder.ts";

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
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has its own spec
  readonly spec?: any;
}

/** Renders a chart into a new folder. @returns the folder, and what the command printed */
export async function renderChart(args: readonly string[]): Promise<{ readonly folder: string; readonly out: string }> {
  const folder = temporaryFolder("chart");
  const { code, out, err } = await runText(["render", "helm", "--directory", folder, ...args]);
  assert.equal(code, 0, err);
  return { folder, out };
}

/** The files of a chart by name. */
export function filesOfChart(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}

/**
 * The objects of a release `rolecall` in the namespace `edge`, as Helm makes them of the chart.
 * @param values values in place of those of the chart
 */
export function chartObjects(folder: string, values: object = {}): readonly ReadObject[] {
  const files = filesOfChart(folder);
  const chart = parse(files.get("Chart.yaml") ?? "") as { readonly version: string; readonly appVersion: string };
  const filled = fillTemplates(files, {
    Values: { ...parse(files.get("values.yaml") ?? ""), ...values },
    Release: { Name: "rolecall", Namespace: "edge", Service: "Helm" },
    Chart: { Name: "rolecall", Version: chart.version, AppVersion: chart.appVersion },
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
