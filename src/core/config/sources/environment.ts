import type { ConfigProblem } from "../model/problem.ts";
import { type Overrides, readListen, readOverride, readRemoved, splitList, unknownOverride } from "./overrides.ts";
import { clientVariables, contextsFileVariable } from "./client-variables.ts";
import type { ConfigKeys } from "./override-keys.ts";

const prefix = "ROLECALL_";
const listenVariable = "ROLECALL_LISTEN";
const discoverVariable = "ROLECALL_DISCOVER";
const nodeCaVariable = "ROLECALL_NODE_CA";
const clusterVariable = "ROLECALL_CLUSTER";

/** Every environment variable that the configuration is read from. */
export function variables(keys: ConfigKeys): readonly string[] {
  const own = [listenVariable, discoverVariable, nodeCaVariable, clusterVariable];
  return [...own, ...keys.overrides.map(({ variable }) => variable)];
}

/** Variables of commands that query a running rolecall. A service may inherit them from its user's shell. */
const ignoredVariables: readonly string[] = [...Object.values(clientVariables), contextsFileVariable];

/** Reads every `ROLECALL_*` variable. An unknown one is a problem that names the most similar known one. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>, keys: ConfigKeys): Overrides {
  const problems: ConfigProblem[] = [];
  const named = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== undefined);
  const ours = named.filter((name) => !ignoredVariables.includes(name));
  const known = ours.length === 0 ? [] : variables(keys);
  const removed = (ours.length === 0 ? [] : keys.removed).flatMap((key) => {
    const text = env[key.variable];
    return text === undefined ? [] : [{ key, ...readRemoved(key, { name: key.variable, text }) }];
  });
  const wasKnown = removed.map(({ key }) => key.variable);
  for (const name of ours.filter((candidate) => !known.includes(candidate) && !wasKnown.includes(candidate)))
    problems.push(unknownOverride(name.slice(0, 128), { given: name, known }));
  const settings = (ours.length === 0 ? [] : keys.overrides).flatMap((key) => {
    const value = env[key.variable];
    return value === undefined ? [] : [{ path: key.path, value: readOverride(value, key), name: key.variable }];
  });
  const listenText = env[listenVariable];
  const discoverText = env[discoverVariable];
  const nodeCa = env[nodeCaVariable];
  const clusterText = env[clusterVariable];
  return {
    // The name of today wins.
    settings: [...removed.flatMap((one) => one.settings), ...settings],
    warnings: removed.map(({ warning }) => warning),
    listen: listenText === undefined ? null : readListen(splitList(listenText), { name: listenVariable, problems }),
    discover: discoverText === undefined ? null : { value: splitList(discoverText), name: discoverVariable },
    nodeCa: nodeCa === undefined ? null : { value: nodeCa, name: nodeCaVariable },
    cluster: clusterText === undefined ? null : { value: clusterText, name: clusterVariable },
    discoveredName: null,
    problems,
  };
}
