import type { HaproxyConfig } from "../../config/model/config.ts";
import { readRuntimeApi } from "../../push/haproxy/read-runtime-api.ts";
import type { RouteSource } from "./route-source.ts";
import { interOf, parseHaproxyStat, statCommand } from "./haproxy-stat.ts";

/** How long a push takes at most before HAProxy's checks alone decide, in ms. */
const pushMs = 1_000;

/** Reads the servers of an HAProxy by `show stat`: opens a connection, asks, closes it. */
export function haproxySource({ socket, backends }: HaproxyConfig, limitMs: number): RouteSource {
  return {
    read: async () => {
      const commands = backends.map(({ name }) => statCommand(name));
      const answers = await readRuntimeApi(socket, commands, limitMs);
      return backends.map(({ name, followMembers }, at) =>
        parseHaproxyStat(name, answers[at] ?? "", { interMs: interOf(followMembers), pushMs }),
      );
    },
  };
}
