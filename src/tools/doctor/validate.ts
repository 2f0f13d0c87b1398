import { countText } from "../../core/health/wording.ts";
import { featureFiles, loadConfig } from "../../app/registry/config.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { diagnoseProblem, diagnoseRemovedKeys } from "../../core/command/result/config-problem.ts";
import {
  checkClusterFiles,
  checkListenerFiles,
  checkNamedFiles,
  poolerFiles,
} from "../../core/command/doctor/file-findings.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { accessSync, constants } from "node:fs";
import type { Arguments } from "../../core/command/framework/arguments.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";

/**
 * `rolecall doctor FILE --offline`: reports every problem of a configuration and of the certificates, keys and tokens that
 * it names (exit code 1), or that it cannot be read (2).
 */
export async function validate({ args, io, result, print }: CommandContext): Promise<void> {
  const file = configFileOf(args);
  if (file === null)
    throw new CommandError("RC001", "doctor --offline takes one file, as FILE or with --config FILE, got nothing");
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new CommandError("RC006", `Cannot read ${file}: ${errorMessage(error)}`);
  }
  const loaded = loadConfig({
    file,
    env: io.env,
    flags: { set: args.list("set").length === 0 ? undefined : args.list("set") },
  });
  result.cover("configuration", "complete", { detail: file });
  diagnoseRemovedKeys(result, loaded.warnings);
  if (!loaded.ok) {
    for (const problem of loaded.problems) diagnoseProblem(result, problem, false);
    result.data = { file, problems: loaded.problems.length };
    return;
  }
  const { clusters, listen } = loaded.config;
  if (args.has("no-files")) result.cover("files", "not_applicable", { detail: "--no-files" });
  else {
    checkListenerFiles(result, loaded.config);
    checkClusterFiles(result, loaded.config);
    checkNamedFiles(result, [
      ...poolerFiles(loaded.config),
      ...featureFiles.flatMap((filesOf) => filesOf(loaded.config)),
    ]);
    result.cover("files", "complete", { detail: "certificates, keys and tokens" });
  }
  // An unusable file is a finding of its own: rolecall would not start with this configuration.
  const problems = result.diagnostics.filter(({ severity }) => severity === "error").length;
  result.data = { file, problems, clusters: clusters.map(({ name }) => name), listeners: listen.length };
  if (problems > 0) return;
  print(`${file} is valid: ${countText(clusters.length, "cluster")}, ${countText(listen.length, "listener")}\n`);
}

/**
 * The configuration that a command names as FILE or with `--config`; `null`: none.
 * @throws CommandError (RC001) if it names two
 */
export function configFileOf(args: Arguments): string | null {
  const [file = null, other] = [...args.positionals, ...args.list("config")];
  if (other === undefined) return file;
  throw new CommandError("RC001", `doctor takes one file, as FILE or with --config FILE, got ${file} and ${other}`);
}
