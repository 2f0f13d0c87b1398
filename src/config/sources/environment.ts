import type { ConfigProblem } from "../model/problem.ts";
import { type Overrides, readListen, readOverride, splitList, unknownName } from "./overrides.ts";
import { overrideKeys } from "./override-keys.ts";

const prefix = "ROLECALL_";
const listen = "ROLECALL_LISTEN";
const discover = "ROLECALL_DISCOVER";
const cluster = "ROLECALL_CLUSTER";

/** Every environment variable that rolecall reads. */
export const variables: readonly string[] = [
  listen,
  discover,
  cluster,
  ...overrideKeys.map(({ variable }) => variable),
];

/** Reads every `ROLECALL_*` variable. An unknown one is a problem that names the most similar known one. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Overrides {
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(prefix) && value !== undefined && !variables.includes(name)) {
      problems.push(unknownName(name.slice(0, 128), { name, known: variables }));
    }
  }
  const found = overrideKeys.flatMap((key) => {
    const value = env[key.variable];
    return value === undefined ? [] : [{ path: key.path, value: readOverride(value, key), name: key.variable }];
  });
  const listenText = env[listen];
  const discoverText = env[discover];
  const clusterText = env[cluster];
  return {
    settings: found,
    listen: listenText === undefined ? null : readListen(splitList(listenText), { name: listen, problems }),
    discover: discoverText === undefined ? null : { value: splitList(discoverText), name: discover },
    cluster: clusterText === undefined ? null : { value: clusterText, name: cluster },
    problems,
  };
}
