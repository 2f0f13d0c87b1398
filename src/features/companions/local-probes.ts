import type { Config } from "../../core/config/model/config.ts";
import type { FindProbes } from "../../core/probe/client/probe-context.ts";

/** Whether a configuration has companions. */
export function hasCompanions({ clusters }: Config): boolean {
  return clusters.some(({ companions }) => companions.length > 0);
}

/** The checks of companions in a process that opens no features. */
export const localCompanions: FindProbes = async (config) =>
  hasCompanions(config) ? (await import("./node-companions.ts")).companionProbes() : null;
