import { isObject, objectOf } from "../cluster/values/json.ts";
import { dirname, resolve } from "node:path";
import { assembleConfig, type CompleteFeature, type ConfigOrigin } from "./assemble.ts";
import { checkClusters } from "./checks/cluster-checks.ts";
import type { Config } from "./model/config.ts";
import type { ListenerDialect } from "./values/listener-dialect.ts";
import type { SimulatorConfig, WholeShape } from "./model/config.ts";
import { checkBalancers } from "./checks/balancer-checks.ts";
import { readEnvironment } from "./sources/environment.ts";
import { type ConfigFlags, readFlags } from "./sources/flags.ts";
import { type ConfigIssue, valueIssue } from "./model/issue.ts";
import { checkLagTimes } from "./checks/lag-time-checks.ts";
import { checkPools } from "./checks/pool-checks.ts";
import { checkPoolers } from "./checks/pooler-checks.ts";
import { checkListeners } from "./checks/listener-checks.ts";
import { type Merged, mergeSources } from "./sources/merge.ts";
import { type ConfigProblem, fileProblem, namedProblem } from "./model/problem.ts";
import { wholeError } from "./schema/schema.ts";
import type { ConfigKeys } from "./sources/override-keys.ts";
import type * as z from "zod";
import { type KeptKeys, withoutRemovedKeys } from "./sources/removed-keys.ts";
import { shapeIssues } from "./sources/shape-issues.ts";
import { type CheckFeature, type ElementSchemas, readValidParts } from "./checks/valid-parts.ts";
import { readYamlFile, type YamlFile } from "./sources/yaml-file.ts";

export type { ConfigFlags } from "./sources/flags.ts";
export type { ConfigProblem } from "./model/problem.ts";

/** The sources of the configuration. Flags override the environment, which overrides the file. */
export interface ConfigSources {
  readonly file: string | null;
  /** The content of a configuration in place of a file, as the demo has it. */
  readonly builtIn?: Readonly<Record<string, unknown>>;
  /** The state file of a service whose configuration has no `state_file`, by its absolute path. */
  readonly defaultStateFile?: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
}

/** What a configuration may say: the keys of the core and of the features of the program. */
export interface ConfigRules {
  readonly schema: z.ZodType<WholeShape>;
  readonly keys: ConfigKeys;
  /** The schemas of elements, as the schema of the whole has them. */
  readonly elements: ElementSchemas;
  /** The dialects of listeners that features bring. */
  readonly dialects: readonly ListenerDialect[];
  /** The checks of the part of each feature against the rest. */
  readonly checks: readonly CheckFeature[];
  readonly completions: readonly CompleteFeature[];
}

/** The configuration, or every problem with it. */
export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      /** The simulated cluster that the demo runs with the service, or `null`. */
      readonly simulator: SimulatorConfig | null;
      /** Whether the sources say nothing of `state_file`: a service then has the file that the system gives it. */
      readonly hasNoStateKey: boolean;
      readonly warnings: readonly ConfigProblem[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly ConfigProblem[];
      /** One for each removed key: rolecall would start with it. */
      readonly warnings: readonly ConfigProblem[];
    };

/**
 * Reads, merges and checks the configuration by the rules of a program: one frozen, complete record, or every problem at once. Reads the file
 * synchronously, so use it at start and reload only. Never throws, whatever the sources contain.
 */
export function loadConfigBy(rules: ConfigRules, sources: ConfigSources): LoadedConfig {
  const { schema, keys, completions } = rules;
  const file = sources.file === null ? null : { name: sources.file, yaml: readYamlFile(sources.file) };
  const written = sources.builtIn ?? file?.yaml.value;
  const overrides = { env: readEnvironment(sources.env, keys), flags: readFlags(sources.flags, keys) };
  const kept = withoutRemovedKeys(objectOf(written));
  const merged = mergeSources(kept.value, overrides);
  const hasNoStateKey = merged.value["state_file"] === undefined;
  const { defaultStateFile = null } = sources;
  const value =
    hasNoStateKey && defaultStateFile !== null ? { ...merged.value, state_file: defaultStateFile } : merged.value;
  const problems = [...(file?.yaml.problems ?? []), ...merged.problems];
  const place = (issue: ConfigIssue): ConfigProblem => placeIssue(issue, { merged, file, kept });
  const removed = kept.issues.slice(0, issuesMax).map((issue) => placeInFile(issue, file));
  const warnings = [...removed, ...merged.warnings].toSorted(byPlace);

  if (file === null && merged.value["clusters"] === undefined) problems.push(noCluster());
  else if (file !== null && !isObject(written)) {
    // A file that cannot be read already has a problem of its own.
    const hasFileProblem = file.yaml.problems.length > 0;
    if (!hasFileProblem) problems.push(place(valueIssue([], written, wholeError.error)));
  } else {
    const read = schema.safeParse(value);
    const ofShape = read.success ? [] : shapeIssues(read.error, value, (path) => keys.at(path));
    const issues = [...ofShape, ...crossIssues(value, rules)];
    for (const issue of issues.slice(0, issuesMax)) problems.push(place(issue));
    if (read.success && problems.length === 0)
      return { ok: true, ...assembleConfig(read.data, originOf(file, merged), completions), hasNoStateKey, warnings };
  }
  return { ok: false, problems: problems.toSorted(byPlace), warnings };
}

/** The most issues reported. A hostile file could have millions. */
const issuesMax = 1000;

interface NamedFile {
  readonly name: string;
  readonly yaml: YamlFile;
}

function crossIssues(value: Merged["value"], { elements, dialects, checks }: ConfigRules): readonly ConfigIssue[] {
  const parts = readValidParts(value, elements);
  return [
    ...checkClusters(parts),
    ...checkPools(parts),
    ...checkListeners(parts, dialects),
    ...checkLagTimes(parts),
    ...checkBalancers(parts),
    ...checkPoolers(parts),
    ...checks.flatMap((check) => check(value, parts)),
  ];
}

/** Adds where the value of an issue comes from: a flag, a variable, or a line of the file. */
function placeIssue(
  issue: ConfigIssue,
  { merged, file, kept }: { merged: Merged; file: NamedFile | null; kept: KeptKeys },
): ConfigProblem {
  const name = merged.nameOf(issue.path);
  if (name !== null) return namedProblem(name, issue);
  return placeInFile({ ...issue, path: kept.writtenAt(issue.path) }, file);
}

function placeInFile(issue: ConfigIssue, file: NamedFile | null): ConfigProblem {
  return fileProblem(
    issue,
    file === null ? { file: null, line: null } : { file: file.name, line: file.yaml.lineOf(issue.path) },
  );
}

function originOf(file: NamedFile | null, merged: Merged): ConfigOrigin {
  const folder = file === null ? resolve(".") : dirname(resolve(file.name));
  // A path in a flag or variable is relative to the working directory, one in the file to the folder of the file.
  const folderOf = (...path: readonly string[]): string => (merged.nameOf(path) === null ? folder : resolve("."));
  return {
    folder,
    folderOf,
    learnsScope: merged.learnsScope,
  };
}

function noCluster(): ConfigProblem {
  const allowed = "--config FILE (a configuration file) or --discover URL (a node's API, such as http://10.0.0.1:8008)";
  return namedProblem("command line", { found: "neither", allowed, message: `must have ${allowed}, got neither` });
}

/** Sorts problems of the file first, by line. */
function byPlace(left: ConfigProblem, right: ConfigProblem): number {
  return (left.line ?? Number.MAX_SAFE_INTEGER) - (right.line ?? Number.MAX_SAFE_INTEGER);
}
