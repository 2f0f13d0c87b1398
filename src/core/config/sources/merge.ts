import { isObject } from "../../cluster/values/json.ts";
import { type ConfigPath, describeFound, formatPath } from "../model/issue.ts";
import type { Override, Overrides } from "./overrides.ts";
import { type ConfigProblem, namedProblem } from "../model/problem.ts";

/** The file overridden by environment and flags, not yet checked. */
export interface Merged {
  readonly value: Readonly<Record<string, unknown>>;
  /** Returns the flag or variable that the value at a path comes from, or `null`. */
  readonly nameOf: (path: ConfigPath) => string | null;
  /** Whether the cluster's scope is taken from the first cluster document or node report. */
  readonly learnsScope: boolean;
  readonly problems: readonly ConfigProblem[];
  /** One for each removed key of the environment and the flags. */
  readonly warnings: readonly ConfigProblem[];
}

/**
 * Overrides the file by the environment, and both by flags. `--discover` replaces `clusters`. `--listen` replaces
 * `listen`; its listeners answer for the whole cluster if exactly one cluster is configured. Without `listen`, health
 * checks are on 127.0.0.1:8008 (with `--discover` for the whole cluster), and an admin listener on 127.0.0.1:9108.
 */
export function mergeSources(
  file: Readonly<Record<string, unknown>>,
  { env, flags }: { env: Overrides; flags: Overrides },
): Merged {
  const names = new Map<string, string>();
  const problems: ConfigProblem[] = [...env.problems, ...flags.problems];
  const discover = flags.discover ?? env.discover;
  const nodeCa = flags.nodeCa ?? env.nodeCa;
  const cluster = flags.cluster ?? env.cluster;
  const listen = flags.listen ?? env.listen;
  let value = file;
  const put = (path: readonly string[], override: Override): void => {
    value = withValue(value, path, override.value);
    names.set(formatPath(path), override.name);
  };
  if (discover !== null) {
    const name = cluster?.value ?? flags.discoveredName ?? discoveredClusterName;
    const tls = nodeCa === null ? {} : { tls: { ca: nodeCa.value } };
    put(["clusters"], { name: discover.name, value: [{ name, discover: discover.value, ...tls }] });
    if (nodeCa !== null) names.set("clusters[0].tls", nodeCa.name);
    if (cluster !== null) names.set("clusters[0].name", cluster.name);
  } else {
    problems.push(
      ...lacksDiscover(cluster, "it only names the cluster that is discovered"),
      ...lacksDiscover(nodeCa, "in a file each cluster has its own tls.ca"),
    );
  }
  if (listen !== null) {
    const wholeCluster = Array.isArray(value["clusters"]) && value["clusters"].length === 1;
    put(["listen"], {
      name: listen.name,
      value: listen.value.map((address) => ({ ...address, whole_cluster: wholeCluster })),
    });
  } else if ((value["listen"] ?? null) === null) {
    const health = { port: 8008, whole_cluster: discover !== null };
    value = withValue(value, ["listen"], [health, { port: 9108, dialect: "admin" }]);
  }
  for (const setting of [...env.settings, ...flags.settings]) put(setting.path, setting);
  return {
    value,
    nameOf: (path) => nameIn(names, path),
    learnsScope: discover !== null && cluster === null,
    problems,
    warnings: [...env.warnings, ...flags.warnings],
  };
}

/** The problem of an override that says something of the cluster of `--discover`, without one. */
function lacksDiscover(override: Override<string> | null, why: string): readonly ConfigProblem[] {
  if (override === null) return [];
  const message = `needs --discover (or ROLECALL_DISCOVER), because ${why}`;
  const found = describeFound(override.value);
  return [namedProblem(override.name, { found, allowed: "set only together with --discover", message })];
}

/** The name of the cluster of `--discover` without `--cluster`, if no seed reports a scope. */
const discoveredClusterName = "main";

/**
 * Sets the value at a path, adding mappings on the way. Keeps a value on the way that is no mapping: the schema
 * rejects it.
 */
function withValue(
  mapping: Readonly<Record<string, unknown>>,
  path: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const [key, ...rest] = path;
  if (key === undefined) return mapping;
  if (rest.length === 0) return { ...mapping, [key]: value };
  const inner = mapping[key] ?? {};
  return isObject(inner) ? { ...mapping, [key]: withValue(inner, rest, value) } : mapping;
}

function nameIn(names: ReadonlyMap<string, string>, path: ConfigPath): string | null {
  for (let length = path.length; length > 0; length -= 1) {
    const name = names.get(formatPath(path.slice(0, length)));
    if (name !== undefined) return name;
  }
  return null;
}
