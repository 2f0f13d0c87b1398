import { dirname, resolve } from "node:path";
import { assembleConfig, type ConfigOrigin } from "./assemble.ts";
import { checkClusters } from "./checks/cluster-checks.ts";
import type { Config } from "./model/config.ts";
import { checkListenerAccess } from "./checks/listener-access-checks.ts";
import { readPartialConfig } from "./sources/partial-config.ts";
import { readEnvironment } from "./sources/environment.ts";
import { type ConfigFlags, readFlags } from "./sources/flags.ts";
import { type ConfigIssue, isMapping, valueIssue } from "./model/issue.ts";
import { checkListeners } from "./checks/listener-checks.ts";
import { type Merged, mergeSources } from "./sources/merge.ts";
import { type ConfigProblem, fileProblem, namedProblem } from "./model/problem.ts";
import { configSchema } from "./schema/schema.ts";
import { shapeIssues } from "./sources/shape-issues.ts";
import { checkDurations } from "./checks/duration-checks.ts";
import { readYamlFile, type YamlFile } from "./sources/yaml-file.ts";

export type { ConfigFlags } from "./sources/flags.ts";
export type { ConfigProblem } from "./model/problem.ts";

/** Where the configuration comes from. Flags win over the environment, which wins over the file. */
export interface ConfigSources {
  readonly file: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
}

export type LoadedConfig =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Reads, merges and checks the configuration: one frozen, complete record, or every problem at once. Reads the file
 * synchronously, so it is for start and reload only. Never throws for anything that the sources say.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const file = sources.file === null ? null : { name: sources.file, yaml: readYamlFile(sources.file) };
  const said = file?.yaml.value;
  const overrides = { env: readEnvironment(sources.env), flags: readFlags(sources.flags) };
  const merged = mergeSources(isMapping(said) ? said : {}, overrides);
  const problems = [...(file?.yaml.problems ?? []), ...merged.problems];
  const place = (issue: ConfigIssue): ConfigProblem => placeIssue(issue, { merged, file });

  if (file === null && merged.value["clusters"] === undefined) problems.push(nothingToWatch());
  else if (file !== null && !isMapping(said)) {
    // What cannot be read at all has said so itself.
    if (problems.length === merged.problems.length)
      problems.push(place(valueIssue([], said, "a mapping with the keys clusters, listen and so on")));
  } else {
    const read = configSchema.safeParse(merged.value);
    const issues = [...(read.success ? [] : shapeIssues(read.error, merged.value)), ...crossIssues(merged)];
    for (const issue of issues.slice(0, issuesMax)) problems.push(place(issue));
    if (read.success && problems.length === 0)
      return { ok: true, config: assembleConfig(read.data, surroundings(file, merged)) };
  }
  return { ok: false, problems: problems.toSorted(byPlace) };
}

/** No file of people has more; a hostile one could have millions. */
const issuesMax = 1000;

interface NamedFile {
  readonly name: string;
  readonly yaml: YamlFile;
}

function crossIssues(merged: Merged): readonly ConfigIssue[] {
  const partial = readPartialConfig(merged.value);
  const clusters = merged.value["clusters"] ?? [];
  const none =
    Array.isArray(clusters) && clusters.length === 0
      ? [valueIssue(["clusters"], merged.value["clusters"], atLeastOne)]
      : [];
  return [
    ...none,
    ...checkClusters(partial),
    ...checkListeners(partial),
    ...checkListenerAccess(partial.listen),
    ...checkDurations(partial),
  ];
}

const atLeastOne = "a list of at least one cluster";

/** Says where an issue's value was said: by a flag, by a variable, or at a line of the file. */
function placeIssue(issue: ConfigIssue, { merged, file }: { merged: Merged; file: NamedFile | null }): ConfigProblem {
  const name = merged.nameOf(issue.path);
  if (name !== null) return namedProblem(name, issue);
  return fileProblem(
    issue,
    file === null ? { file: null, line: null } : { file: file.name, line: file.yaml.lineOf(issue.path) },
  );
}

function surroundings(file: NamedFile | null, merged: Merged): ConfigOrigin {
  const folder = file === null ? resolve(".") : dirname(resolve(file.name));
  return {
    folder,
    stateFolder: merged.nameOf(["state_file"]) === null ? folder : resolve("."),
    learnsScope: merged.learnsScope,
  };
}

function nothingToWatch(): ConfigProblem {
  const allowed = "--config FILE (a configuration file) or --discover URL (a node's API, such as http://10.0.0.1:8008)";
  return namedProblem("command line", { found: "neither", allowed, message: `must say ${allowed}: it says neither` });
}

/** Problems of the file come first, in its order. */
function byPlace(left: ConfigProblem, right: ConfigProblem): number {
  return (left.line ?? Number.MAX_SAFE_INTEGER) - (right.line ?? Number.MAX_SAFE_INTEGER);
}
