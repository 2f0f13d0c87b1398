/** Limits the processor time of processes, as a container's limit does. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The period of a container's limit, in µs: that of Docker and of a kubelet. */
const periodUs = 100_000;

/** A limit in force. */
export interface ProcessorLimit {
  /** How often the processes had to stop since they were limited. */
  stops(): number;
  /** Ends the limit. All processes under it must have ended. */
  end(): void;
}

/** The folder of the processor's controller: of cgroups v1, or of v2. `null` if there is none, or it cannot be written. */
function controller(): { readonly root: string; readonly version: 1 | 2 } | null {
  if (existsSync("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) return { root: "/sys/fs/cgroup/cpu", version: 1 };
  const controllers = "/sys/fs/cgroup/cgroup.controllers";
  if (existsSync(controllers) && readFileSync(controllers, "utf8").split(/\s/).includes("cpu"))
    return { root: "/sys/fs/cgroup", version: 2 };
  return null;
}

/** Whether processes can be limited here. */
export function canLimit(): boolean {
  const found = controller();
  if (found === null || process.getuid?.() !== 0) return false;
  try {
    limitProcessor([], 1).end();
    return true;
  } catch {
    return false;
  }
}

/**
 * Limits processes and all that they start.
 * @param share of one core
 * @throws Error if the system refuses
 */
export function limitProcessor(pids: readonly number[], share: number): ProcessorLimit {
  const found = controller();
  if (found === null)
    throw new Error("Cannot limit processor time: the system must have cgroups with the cpu controller");
  const { root, version } = found;
  const folder = join(root, `rolecall-bench-${process.pid}-${Math.random().toString(36).slice(2, 8)}`);
  if (version === 2) writeFileSync(join(root, "cgroup.subtree_control"), "+cpu");
  mkdirSync(folder);
  const quotaUs = Math.round(periodUs * share);
  if (version === 1) {
    writeFileSync(join(folder, "cpu.cfs_period_us"), `${periodUs}`);
    writeFileSync(join(folder, "cpu.cfs_quota_us"), `${quotaUs}`);
  } else writeFileSync(join(folder, "cpu.max"), `${quotaUs} ${periodUs}`);
  for (const pid of pids) writeFileSync(join(folder, "cgroup.procs"), `${pid}`);
  return {
    stops: () => Number(/^nr_throttled (\d+)/m.exec(readFileSync(join(folder, "cpu.stat"), "utf8"))?.[1] ?? 0),
    end: () => rmdirSync(folder),
  };
}
