import { formatDuration, formatLag } from "../output/figures.ts";
import { safeLines } from "../output/style.ts";
import { targetName } from "./database/connection-target.ts";
import type { RehearsalPlan } from "./plan.ts";

/** Renders the plan of the rehearsal, before it begins. */
export function planText({ options, cluster, leader, pool, schema }: RehearsalPlan): string {
  const { cause, pool: target, writeIntervalMs, writeTimeoutMs, deadlineMs } = options;
  const replicas = cluster.nodes.filter(({ node }) => node !== leader);
  const candidate = cause.kind === "switchover" ? cause.candidate : null;
  const shown = replicas.filter(({ node }) => candidate === null || node === candidate);
  const lags = shown.map(({ node, lag_bytes: lag }) => `${node} (lag ${formatLag(lag)})`).join(", ");
  const rows: readonly (readonly [string, string])[] = [
    ["cluster", `${cluster.cluster}, scope ${cluster.scope ?? "unknown"}`],
    [
      cause.kind === "kill" ? "kill" : "switchover",
      `from ${leader} (timeline ${cluster.timeline ?? "unknown"}) to ${candidate === null ? `one of ${lags}` : lags}`,
    ],
    ...(cause.kind === "kill" ? [["command", `${cause.command} (ROLECALL_NODE=${leader})`] as const] : []),
    ["pool", `${targetName(target)}, which leads to ${pool.server.address}`],
    [
      "writes",
      `one every ${Math.round(writeIntervalMs)} ms, each on a new connection with ${formatDuration(writeTimeoutMs)} at most`,
    ],
    ["schema", `${schema} in database ${target.database}, removed at the end`],
    ["databases", pool.nodeTargets.size === 0 ? "none is queried directly" : [...pool.nodeTargets.keys()].join(", ")],
    ["ends", `when writes flow and the cluster is whole, after ${formatDuration(deadlineMs)} at most`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return safeLines(["Rehearsal:", ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`), ""].join("\n"));
}

/** What the user confirms, as a sentence without its full stop. */
export function changeText({ options: { cause, pool }, cluster, leader }: RehearsalPlan): string {
  const writes = `and writes to the database ${pool.database} meanwhile`;
  if (cause.kind === "kill") return `This kills the leader ${leader} of ${cluster.cluster}, ${writes}`;
  return `This switches ${cluster.cluster} over from ${leader} to ${cause.candidate ?? "the node that the cluster elects"}, ${writes}`;
}
