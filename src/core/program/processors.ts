import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { posix } from "node:path";

/** Reads a file of the system; `null` if it cannot be read. */
export type ReadSystemFile = (path: string) => string | null;

/** Where the controllers of cgroups are mounted: of v2, and the one for processor time of v1. */
const mountV2 = "/sys/fs/cgroup";
const mountsV1 = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];

/**
 * How many processors this process may use: those that it may run on, or fewer if its cgroup limits its processor time,
 * as the limit of a container does (cgroups(7), `cpu.max` and `cpu.cfs_quota_us`). Node.js counts the limit from
 * version 22 on.
 * @returns may be a fraction, as 0.5
 */
export function usableProcessors(
  read: ReadSystemFile = readSystemFile,
  processors: number = availableParallelism(),
): number {
  const limits = cgroupFolders(read("/proc/self/cgroup") ?? "").flatMap((folder) => limitOf(folder, read) ?? []);
  return Math.min(processors, ...limits);
}

/** The folders of the cgroup and of all above it: each may have a limit. */
function cgroupFolders(membership: string): readonly string[] {
  return membership.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    if (controllers === "") return upwards(mountV2, path);
    return controllers.split(",").includes("cpu") ? mountsV1.flatMap((mount) => upwards(mount, path)) : [];
  });
}

/** A container sees its own cgroup as the root: the path of the host leads nowhere then. */
function upwards(mount: string, path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, count) => posix.join(mount, ...parts.slice(0, count)));
}

function limitOf(folder: string, read: ReadSystemFile): number | null {
  const v2 = /^(\d+) (\d+)/.exec(read(`${folder}/cpu.max`) ?? "");
  if (v2 !== null) return ratioOf(v2[1], v2[2]);
  return ratioOf(read(`${folder}/cpu.cfs_quota_us`) ?? "", read(`${folder}/cpu.cfs_period_us`) ?? "");
}

/** A quota of -1 is none. */
function ratioOf(quota: string | undefined, period: string | undefined): number | null {
  const ratio = Number.parseInt(quota ?? "", 10) / Number.parseInt(period ?? "", 10);
  return ratio > 0 && Number.isFinite(ratio) ? ratio : null;
}

function readSystemFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
