import type { Guards } from "../../health/guards.ts";
import { lockBoundMs } from "../../health/freshness.ts";
import { formatSpan } from "../text/figures.ts";
import type { Patient } from "./doctor.ts";

/** The guards that are switches, by their names in the configuration. */
const switches: readonly (readonly [string, (guards: Guards) => boolean])[] = [
  ["exclusive_primary", ({ exclusivePrimary }) => exclusivePrimary],
  ["running_primary", ({ runningPrimary }) => runningPrimary],
  ["attached_replica", ({ attachedReplica }) => attachedReplica],
  ["same_system", ({ sameSystem }) => sameSystem],
];

/** A guard that is off is a choice that should have been made knowingly. */
export function examineGuards({ session: { args, result }, config }: Patient): void {
  const file = args.text("config");
  for (const [at, { name, guards }] of config.clusters.entries()) {
    for (const [guard, isOn] of switches) {
      if (isOn(guards)) continue;
      const location = file === null ? {} : { location: { file, pointer: `/clusters/${at}/guards/${guard}`, kind: "source" as const } };
      result.diagnose("RC110", { message: `cluster ${name}: guard ${guard} is off`, ...location });
    }
  }
  result.cover("guards", "complete", { detail: `${switches.length} guards of ${config.clusters.length} clusters` });
}

/** Evidence for a yes must be younger than the lock is sure to last: ttl - loop_wait - retry_timeout (design.md, rule 1). */
export function examineMaxAge({ session: { result }, config, probed: { snapshot } }: Patient): void {
  const unknown: string[] = [];
  for (const part of snapshot.parts) {
    if (part.config === null) {
      unknown.push(part.name);
      continue;
    }
    const boundMs = lockBoundMs(part);
    if (config.probe.maxAgeMs > boundMs) {
      result.diagnose("RC106", {
        message: `cluster ${part.name}: max_age is ${formatSpan(config.probe.maxAgeMs)}, ttl - loop_wait - retry_timeout is ${formatSpan(boundMs)}, which holds`,
      });
    }
  }
  const detail =
    unknown.length === 0 ? `of ${snapshot.parts.length} clusters` : `no node told the dynamic configuration of ${unknown.join(", ")}`;
  result.cover("max_age", unknown.length === 0 ? "complete" : "incomplete", { detail });
}
