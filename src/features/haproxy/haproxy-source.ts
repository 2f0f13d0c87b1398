import type { HaproxyConfig } from "../../core/config/model/config.ts";
import { readRuntimeApi } from "./read-runtime-api.ts";
import type { PoolReading } from "../../core/balancing/audited/reading.ts";
import type { RouteSource } from "../../core/balancing/audited/route-source.ts";
import {
  backendsCommand,
  interOf,
  missingBackend,
  parseBackendIds,
  parseHaproxyStat,
  statCommand,
} from "./haproxy-stat.ts";

/** How long a push takes at most before HAProxy's checks alone decide, in ms. */
const pushMs = 1_000;

/** One look: until when, in ms of the monotonic clock, and what ends it at once. */
interface Look {
  readonly endMs: number;
  readonly signal: AbortSignal;
}

/** Reads the servers of an HAProxy by `show stat`: opens a connection, asks, closes it. */
export function haproxySource({ socket, backends }: HaproxyConfig, limitMs: number): RouteSource {
  const ask = (commands: readonly string[], { endMs, signal }: Look): Promise<readonly string[]> =>
    readRuntimeApi(socket, commands, { deadlineMs: Math.max(1, Math.round(endMs - performance.now())), signal });
  const readBy = async (names: readonly string[], look: Look): Promise<readonly (PoolReading | null)[]> => {
    const answers = await ask(names.map(statCommand), look);
    return backends.map(({ name, interMs, followMembers }, at) =>
      parseHaproxyStat(name, answers[at] ?? "", { interMs: interMs ?? interOf(followMembers), pushMs }),
    );
  };
  return {
    read: async (signal) => {
      const look = { endMs: performance.now() + limitMs, signal };
      const names = backends.map(({ name }) => name);
      const readings = await readBy(names, look);
      if (!readings.includes(null)) return readings.filter((one) => one !== null);
      // A frontend answers that has the name of a backend.
      const ids = parseBackendIds((await ask([backendsCommand], look))[0] ?? "");
      const again = await readBy(
        names.map((name) => ids.get(name) ?? name),
        look,
      );
      return again.map((one, at) => one ?? missingBackend(names[at] ?? ""));
    },
  };
}
