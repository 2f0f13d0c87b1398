import type { Config } from "../../config/model/config.ts";
import { loadConfig, type ConfigProblem, type ConfigSources, type LoadedConfig } from "../../config/load.ts";
import type { Arguments } from "../framework/arguments.ts";
import type { ResultBuilder } from "../result/builder.ts";

/** The configuration sources of a command: its options, the environment, and the file of `--config`. */
export function sourcesOf(args: Arguments, env: ConfigSources["env"]): ConfigSources {
  const listIfGiven = (name: string): readonly string[] | undefined =>
    args.list(name).length === 0 ? undefined : args.list(name);
  return {
    file: args.text("config"),
    env,
    flags: {
      discover: listIfGiven("discover"),
      cluster: args.text("discover") === null ? undefined : (args.text("cluster") ?? undefined),
      listen: listIfGiven("listen"),
      logLevel: args.text("log-level") ?? undefined,
      set: listIfGiven("set"),
    },
  };
}

/**
 * Loads the configuration of a command.
 * @returns `null` if there are problems, which become findings marked incomplete: the command cannot do its work
 */
export function configFrom(sources: ConfigSources, result: ResultBuilder): Config | null {
  return loadedFrom(sources, result)?.config ?? null;
}

/** As {@link configFrom}, with the simulated cluster that the demo runs beside the service. */
export function loadedFrom(
  sources: ConfigSources,
  result: ResultBuilder,
): Extract<LoadedConfig, { readonly ok: true }> | null {
  const loaded = loadConfig(sources);
  if (loaded.ok) return loaded;
  for (const problem of loaded.problems) diagnoseProblem(result, problem, true);
  return null;
}

/** Adds a finding for one configuration problem, with its file, line and path. */
export function diagnoseProblem(result: ResultBuilder, problem: ConfigProblem, incomplete: boolean): void {
  const { file, line, path, where, message } = problem;
  const location =
    file === null
      ? {}
      : { location: { file, pointer: pointerOf(path), kind: "source" as const, ...(line === null ? {} : { line }) } };
  const subject = file === null ? where : path;
  result.diagnose("RC020", { message: subject === "" ? message : `${subject}: ${message}`, ...location, incomplete });
}

/** Converts `clusters[0].name` to a JSON pointer, `/clusters/0/name`. */
function pointerOf(path: string): string {
  return path === "" ? "" : `/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}
