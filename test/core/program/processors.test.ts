import assert from "node:assert/strict";
import { test } from "node:test";
import { usableProcessors } from "../../../src/core/program/processors.ts";

const rows: readonly {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly usable: number;
}[] = [
  { title: "no cgroups: all processors", files: {}, usable: 4 },
  {
    title: "v2 without a limit: all processors",
    files: { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "max 100000\n" },
    usable: 4,
  },
  {
    title: "v2 in a container, whose cgroup is the root: its limit",
    files: { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "50000 100000\n" },
    usable: 0.5,
  },
  {
    title: "v2 as a service: the least limit of the cgroup and those above it",
    files: {
      "/proc/self/cgroup": "0::/system.slice/rolecall.service\n",
      "/sys/fs/cgroup/system.slice/cpu.max": "150000 100000\n",
      "/sys/fs/cgroup/system.slice/rolecall.service/cpu.max": "max 100000\n",
    },
    usable: 1.5,
  },
  {
    title: "v2 in a container that sees the path of the host: its limit is at the root",
    files: {
      "/proc/self/cgroup": "0::/../../kubepods/pod1/abc\n",
      "/sys/fs/cgroup/cpu.max": "200000 100000\n",
    },
    usable: 2,
  },
  {
    title: "v1: its quota",
    files: {
      "/proc/self/cgroup": "9:memory:/a\n4:cpu,cpuacct:/a/b\n1:name=systemd:/a\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us": "25000\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n",
    },
    usable: 0.25,
  },
  {
    title: "v1 without a quota: all processors",
    files: {
      "/proc/self/cgroup": "4:cpu:/\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    },
    usable: 4,
  },
  {
    title: "a limit above the processors: all processors",
    files: { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "800000 100000\n" },
    usable: 4,
  },
  {
    title: "files that say nothing: all processors",
    files: { "/proc/self/cgroup": "rubbish\n0::/\n", "/sys/fs/cgroup/cpu.max": "\n" },
    usable: 4,
  },
];

for (const { title, files, usable } of rows)
  test(title, () => {
    assert.equal(
      usableProcessors((path) => files[path] ?? null, 4),
      usable,
    );
  });

test("on this machine: at least a part of a processor", () => {
  assert.ok(usableProcessors() > 0);
});
