import type { Config } from "../../core/config/model/config.ts";
import type { FindProbes } from "../../core/probe/client/probe-context.ts";

/** Whether nodes of a configuration have exporters. */
export function hasExporters({ clusters }: Config): boolean {
  return clusters.some(({ nodes }) => nodes.some(({ exporter }) => exporter !== null));
}

/** The probes of exporters in a process that opens no features. */
export const localExporters: FindProbes = async (config) =>
  hasExporters(config) ? (await import("./exporter-prober.ts")).exporterProbes : null;
