/** The rows of test/spec/cli/rendered.yaml, rendered. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { runText, type CommandOutput } from "./command-line.ts";

/** Clusters and options, and what is rendered for them. */
export interface RenderedRow {
  readonly title: string;
  readonly clusters: string;
  /** The pools of the configuration; without: none. */
  readonly pools?: readonly object[];
  readonly args: readonly string[];
  /** Texts of the rendered HAProxy configuration. */
  readonly haproxy: readonly string[];
  /** Texts of the rendered Envoy configuration. */
  readonly envoy: readonly string[];
  /** The rules of the findings; none if it is missing. */
  readonly rules?: readonly string[];
}

/** Options that are refused with a message. */
export interface RefusedRow {
  readonly pools?: readonly object[];
  readonly args: readonly string[];
  readonly message: string;
}

interface RenderedSpec {
  readonly clusters: Readonly<Record<string, unknown>>;
  readonly accepted: readonly RenderedRow[];
  readonly refused: readonly RefusedRow[];
}

export const renderedSpec: RenderedSpec = parse(readFileSync(join("test", "spec", "cli", "rendered.yaml"), "utf8"));

/** What to render. */
export interface Rendering {
  readonly kind: string;
  /** The name of the clusters in the table. */
  readonly clusters: string;
  readonly pools?: readonly object[] | undefined;
  readonly args: readonly string[];
  /** The listeners of rolecall; without: the default. */
  readonly listen?: readonly object[];
}

/**
 * Renders a configuration for clusters of the table.
 * @param folder where the configuration of rolecall is written; `ca.pem` there is the CA of the clusters that have one
 */
export function renderClusters(
  folder: string,
  { kind, clusters, pools, args, listen }: Rendering,
): Promise<CommandOutput> {
  const config = join(folder, "rolecall.yaml");
  const text = JSON.stringify({ clusters: renderedSpec.clusters[clusters], pools, listen }); // JSON is YAML
  writeFileSync(config, text.replaceAll('"CA"', JSON.stringify(join(folder, "ca.pem"))));
  return runText(["render", kind, "--config", config, ...args]);
}
