import type { ConfigProblem } from "../model/problem.ts";
import { type Overrides, readListen, readSetting, splitList, unknownName } from "./overrides.ts";
import { overrideKeys } from "./override-keys.ts";

const prefix = "ROLECALL_";
const listen = "ROLECALL_LISTEN";
const discover = "ROLECALL_DISCOVER";
const cluster = "ROLECALL_CLUSTER";

/** Every environment variable that is understood. */
export const variables: readonly string[] = [
  listen,
  discover,
  cluster,
  ...overrideKeys.map(({ variable }) => variable),
];

/** Reads every `ROLECALL_*` variable. One that is not known is a problem that names the nearest one that is. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Overrides {
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(prefix) && value !== undefined && !variables.includes(name)) {
      problems.push(unknownName(name.slice(0, 128), { name, known: variables }));
    }
  }
  const found = overrideKeys.flatMap((setting) => {
    const value = env[setting.variable];
    return value === undefined
      ? []
      : [{ path: setting.path, value: readSetting(value, setting), name: setting.variable }];
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
