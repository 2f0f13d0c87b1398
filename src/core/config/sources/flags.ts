import { describeFound } from "../model/issue.ts";
import { type Overrides, readListen, readOverride, readRemoved, splitList, unknownOverride } from "./overrides.ts";
import { type ConfigProblem, namedProblem } from "../model/problem.ts";
import type { ConfigKeys } from "./override-keys.ts";

/** The command-line flags that affect the configuration, as given. */
export interface ConfigFlags {
  /** `--discover URL[,URL]`: probe one cluster, discovered through these seeds, in place of the file's clusters. */
  readonly discover?: readonly string[] | undefined;
  /** `--node-ca FILE`: the certificate authority of the nodes of `--discover`. */
  readonly nodeCa?: string | undefined;
  /**
   * `--cluster NAME`: the name and scope of the cluster of `--discover`. Without this flag its scope is discovered.
   */
  readonly cluster?: string | undefined;
  /** The name of the cluster of `--discover` without `--cluster`: the scope that a seed reports. Default: `main`. */
  readonly discoveredName?: string | undefined;
  /** `--listen HOST:PORT[,HOST:PORT]`: listeners of the node dialect, in place of the file's. */
  readonly listen?: readonly string[] | undefined;
  /** `--log-level LEVEL`. */
  readonly logLevel?: string | undefined;
  /** `--set PATH=VALUE`, such as `probe.interval=2s`. */
  readonly set?: readonly string[] | undefined;
}

/** Reads the flags. `--set` accepts the same keys as the environment; the last value for a path wins. */
export function readFlags(flags: ConfigFlags, keys: ConfigKeys): Overrides {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const settings = (flags.set ?? []).flatMap((assignment) => readAssignment(assignment, { keys, problems, warnings }));
  if (flags.logLevel !== undefined)
    settings.push({ path: ["log", "level"], value: flags.logLevel, name: "--log-level" });
  return {
    settings,
    listen:
      flags.listen === undefined ? null : readListen(flags.listen.flatMap(splitList), { name: "--listen", problems }),
    discover: flags.discover === undefined ? null : { value: flags.discover.flatMap(splitList), name: "--discover" },
    nodeCa: flags.nodeCa === undefined ? null : { value: flags.nodeCa, name: "--node-ca" },
    cluster: flags.cluster === undefined ? null : { value: flags.cluster, name: "--cluster" },
    discoveredName: flags.discoveredName ?? null,
    problems,
    warnings,
  };
}

function readAssignment(
  assignment: string,
  {
    keys,
    problems,
    warnings,
  }: { readonly keys: ConfigKeys; readonly problems: ConfigProblem[]; readonly warnings: ConfigProblem[] },
): Overrides["settings"] {
  const equals = assignment.indexOf("=");
  if (equals === -1) {
    problems.push(
      namedProblem("--set", {
        found: describeFound(assignment),
        allowed: "PATH=VALUE, such as probe.interval=2s",
        message: null,
      }),
    );
    return [];
  }
  const path = assignment.slice(0, equals);
  const name = `--set ${path.slice(0, 128)}`;
  const known = keys.overrides.map((key) => key.path.join("."));
  const key = keys.overrides[known.indexOf(path)];
  if (key !== undefined) return [{ path: key.path, value: readOverride(assignment.slice(equals + 1), key), name }];
  const removed = keys.removed.find(({ row }) => row.path === path);
  if (removed !== undefined) {
    const read = readRemoved(removed, { name, text: assignment.slice(equals + 1) });
    warnings.push(read.warning);
    return read.settings;
  }
  problems.push(unknownOverride(name, { given: path, known }));
  return [];
}
