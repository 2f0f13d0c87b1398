import type { Config } from "../../config/model/config.ts";
import { loadConfig, type ConfigProblem, type ConfigSources, type LoadedConfig } from "../../config/load.ts";
import type { Arguments } from "../framework/arguments.ts";
import type { ResultBuilder } from "../result/builder.ts";

/** Where a command's configuration comes from: the usual options, the environment, the file of `--config`. */
export function sourcesOf(args: Arguments, env: ConfigSources["env"]): ConfigSources {
  const said = (name: string): readonly string[] | undefined =>
    args.list(name).length === 0 ? undefined : args.list(name);
  return {
    file: args.text("config"),
    env,
    flags: {
      discover: said("discover"),
      cluster: args.text("discover") === null ? undefined : (args.text("cluster") ?? undefined),
      listen: said("listen"),
      logLevel: args.text("log-level") ?? undefined,
      set: said("set"),
    },
  };
}

/**
 * The configuration that a command works by. Problems become findings that end it: without a configuration its work cannot
 * be done. @returns `null` where there are problems
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

/** Takes one problem with the configuration in as a finding, at its file, line and path. */
export function diagnoseProblem(result: ResultBuilder, problem: ConfigProblem, incomplete: boolean): void {
  const { file, line, path, where, message } = problem;
  const place =
    file === null
      ? {}
      : { location: { file, pointer: pointerOf(path), kind: "source" as const, ...(line === null ? {} : { line }) } };
  const subject = file === null ? where : path;
  result.diagnose("RC020", { message: subject === "" ? message : `${subject}: ${message}`, ...place, incomplete });
}

/** `clusters[0].name` as a JSON pointer, `/clusters/0/name`. */
function pointerOf(path: string): string {
  return path === "" ? "" : `/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}
