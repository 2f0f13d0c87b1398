import { access } from "node:fs/promises";
import type { Config } from "../../core/config/model/config.ts";
import type { Feature } from "../../core/feature/feature.ts";
import { inTime } from "../../core/state/files/in-time.ts";
import type { RunningSwitchovers } from "./open-switchover.ts";
import { answerClaims, answerPauses } from "./pauses-api.ts";
import { answerResume, answerRun } from "./switchover-api.ts";
import { fileBeside } from "./files.ts";

/** How long the file system may take, in ms. */
const limitMs = 2_000;

/** Switchovers during which the clients of poolers wait, of this process and of peers that die (docs/poolers.md). */
export const switchover: Feature<RunningSwitchovers> = {
  name: "switchover",
  isUsed: ({ poolers, peers, listen }) =>
    poolers.length > 0 ||
    peers.length > 0 ||
    listen.some(
      ({ access: { management, pauseTokens, beforeStopTokens } }) =>
        management || pauseTokens.length > 0 || beforeStopTokens.length > 0,
    ),
  hasLeft: mayHaveLeft,
  load: async () => (await import("./open-switchover.ts")).openSwitchover,
  routes: { pauses: answerPauses, claims: answerClaims },
  clusterRoutes: { "switchover/run": answerRun, "switchover/resume": answerResume },
  conditions: ({ switchovers }, cluster) => switchovers.holdsFound(cluster),
  metrics: [
    {
      type: "gauge",
      name: "rolecall_hold_failed_timestamp_seconds",
      help: "When the last hold of clients ended without a primary, in seconds since 1970.",
      read: (running) =>
        [...(running?.switchovers.failedHolds ?? [])].map(([cluster, atMs]) => [{ cluster }, atMs / 1_000] as const),
    },
    {
      type: "gauge",
      name: "rolecall_paused_databases",
      help: "Databases of poolers that a seamless switchover of this rolecall, or of an earlier process, may have paused.",
      read: (running) =>
        [...(running?.switchovers.paused ?? [])].map(([cluster, databases]) => [{ cluster }, databases] as const),
    },
    {
      type: "gauge",
      name: "rolecall_pauses_held",
      help: "Databases of poolers that other rolecalls may have paused: watched, or resuming because that rolecall is silent.",
      read: (running) =>
        (running?.keeper.held ?? []).map(({ cluster, state, databases }) => [{ cluster, state }, databases] as const),
    },
  ],
};

/** Whether there is a file that says what an earlier process may have paused; `true` too if that cannot be found out. */
async function mayHaveLeft(config: Config): Promise<boolean> {
  const path = fileBeside(config, "pauses");
  if (path === null) return false;
  const isAbsent = access(path).then(
    () => false,
    (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT",
  );
  return (await inTime(isAbsent, limitMs)) !== true;
}
