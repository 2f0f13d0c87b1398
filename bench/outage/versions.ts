/** The machine and the programs of a run, as the report states them. */
import { spawnSync } from "node:child_process";
import { arch, availableParallelism, cpus, totalmem } from "node:os";
import { findPgExporter } from "../../test/real/lab/plain.ts";
import { postgresBin } from "../../test/real/lab/patroni.ts";
import { program } from "../../test/real/lab/rolecall.ts";
import type { BalancerProgram } from "../../test/real/lab/balancer-programs.ts";

/** The machine in one line. */
export function machineLine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `Machine: ${availableParallelism()} cores (${model}, ${arch()}), ${Math.round(totalmem() / 2 ** 30)} GB`;
}

/** One line a program. */
export function versionLines(
  patroni: readonly [string, ...string[]],
  balancers: readonly BalancerProgram[],
): readonly string[] {
  const exporter = findPgExporter();
  const commands: readonly (readonly [string, ...string[]])[] = [
    [process.execPath, program, "version"],
    [...patroni, "--version"],
    [`${postgresBin}/postgres`, "--version"],
    ["/usr/bin/etcd", "--version"],
    ...balancers.flatMap(({ kind, found }) =>
      "path" in found ? [[found.path, kind === "haproxy" ? "-v" : "--version"] as [string, string]] : [],
    ),
    ...(exporter === undefined ? [] : [[exporter, "--version"] as [string, string]]),
  ];
  return [`Node: ${process.version}`, ...commands.map(firstLine)];
}

function firstLine([command, ...args]: readonly [string, ...string[]]): string {
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: 10_000 });
  const line = `${stdout}\n${stderr}`.split("\n").find((each) => /\d+\.\d+/.test(each)) ?? "version unknown";
  const text = line
    .trim()
    .replace(/^\S+\/(?=envoy)/, "")
    // As a module, Patroni states the name of its file.
    .replace(/^__main__\.py/, "Patroni");
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
