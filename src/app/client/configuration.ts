import { discoverScope } from "../discover-scope.ts";
import type { Config } from "../../core/config/model/config.ts";
import type { ConfigSources, LoadedConfig } from "../../core/config/load.ts";
import { loadConfig } from "../registry/config.ts";
import type { Arguments } from "../../core/command/framework/arguments.ts";
import type { ResultBuilder } from "../../core/command/result/builder.ts";
import { diagnoseProblem } from "../../core/command/result/config-problem.ts";

/** The configuration sources of a command: its options, the environment, and the file of `--config`. */
export function sourcesOf(args: Arguments, env: ConfigSources["env"]): ConfigSources {
  const listIfGiven = (name: string): readonly string[] | undefined =>
    args.list(name).length === 0 ? undefined : args.list(name);
  return {
    file: args.text("config"),
    env,
    flags: {
      discover: listIfGiven("discover"),
      nodeCa: args.text("node-ca") ?? undefined,
      cluster: args.text("discover") === null ? undefined : (args.text("cluster") ?? undefined),
      listen: listIfGiven("listen"),
      logLevel: args.text("log-level") ?? undefined,
      set: listIfGiven("set"),
    },
  };
}

/** A configuration, and the sources that it was loaded from. */
interface SourcedConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
}

/**
 * Names the cluster of `--discover` after the scope that its nodes report, unless `--cluster` names it. Takes at most
 * one probe timeout. Returns its argument if there is no such cluster, or if no node reports a scope.
 * @param patience `wait` repeats the requests until that timeout, because nodes may be starting
 */
export async function namedByScope(
  { config, sources }: SourcedConfig,
  patience: "once" | "wait" = "once",
): Promise<SourcedConfig> {
  if (config.clusters.every(({ scope }) => scope !== null)) return { config, sources };
  const discoveredName = await discoverScope(config, patience);
  if (discoveredName === null) return { config, sources };
  const named = { ...sources, flags: { ...sources.flags, discoveredName } };
  const loaded = loadConfig(named);
  return loaded.ok ? { config: loaded.config, sources: named } : { config, sources };
}

/**
 * Loads the configuration of a command.
 * @returns `null` if there are problems. Each one becomes a finding that marks the result as incomplete
 */
export function configFrom(sources: ConfigSources, result: ResultBuilder): Config | null {
  return loadedFrom(sources, result)?.config ?? null;
}

/**
 * As {@link configFrom}, but also returns the section `simulator`, the simulated cluster that runs with the service.
 */
export function loadedFrom(
  sources: ConfigSources,
  result: ResultBuilder,
): Extract<LoadedConfig, { readonly ok: true }> | null {
  const loaded = loadConfig(sources);
  if (loaded.ok) return loaded;
  for (const problem of loaded.problems) diagnoseProblem(result, problem, true);
  return null;
}
