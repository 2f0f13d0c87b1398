import type { Guards } from "../../health/guards.ts";
import { lockBoundMs } from "../../health/evidence/freshness.ts";
import { formatDuration } from "../output/figures.ts";
import type { DoctorContext } from "./doctor.ts";

/** The guards that are switches, by their names in the configuration. */
const switches: readonly (readonly [string, (guards: Guards) => boolean])[] = [
  ["exclusive_primary", ({ exclusivePrimary }) => exclusivePrimary],
  ["running_primary", ({ runningPrimary }) => runningPrimary],
  ["attached_replica", ({ attachedReplica }) => attachedReplica],
  ["same_system", ({ sameSystem }) => sameSystem],
];

/** A guard that is off is a choice that should have been made knowingly. */
export function checkGuards({ context: { args, result }, config }: DoctorContext): void {
  const file = args.text("config");
  for (const [at, { name, guards }] of config.clusters.entries()) {
    for (const [guard, isOn] of switches) {
      if (isOn(guards)) continue;
      const location =
        file === null
          ? {}
          : { location: { file, pointer: `/clusters/${at}/guards/${guard}`, kind: "source" as const } };
      result.diagnose("RC110", { message: `cluster ${name}: guard ${guard} is off`, ...location });
    }
  }
  result.cover("guards", "complete", { detail: `${switches.length} guards of ${config.clusters.length} clusters` });
}

/** Evidence for a yes must be younger than the lock is sure to last: ttl - loop_wait - retry_timeout (design.md, rule 1). */
export function checkMaxAge({ context: { result }, config, probed: { snapshot } }: DoctorContext): void {
  const unknown: string[] = [];
  for (const cluster of snapshot.clusters) {
    if (cluster.config === null) {
      unknown.push(cluster.name);
      continue;
    }
    const boundMs = lockBoundMs(cluster);
    if (config.probe.maxAgeMs > boundMs) {
      result.diagnose("RC106", {
        message: `cluster ${cluster.name}: max_age is ${formatDuration(config.probe.maxAgeMs)}, ttl - loop_wait - retry_timeout is ${formatDuration(boundMs)}, which holds`,
      });
    }
  }
  const detail =
    unknown.length === 0
      ? `of ${snapshot.clusters.length} clusters`
      : `no node told the dynamic configuration of ${unknown.join(", ")}`;
  result.cover("max_age", unknown.length === 0 ? "complete" : "incomplete", { detail });
}
