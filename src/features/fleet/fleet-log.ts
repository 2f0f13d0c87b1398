import type { MemberDrainChange } from "./ownership/fleet-membership.ts";
import type { StorePhase } from "./ownership/fleet-store.ts";
import { LimitedLines } from "../../core/log/limited-lines.ts";
import type { Logger } from "../../core/log/logger.ts";

/** What the log says of this instance's part in its fleet. */
export interface FleetLines {
  readonly phase: (phase: StorePhase) => void;
  readonly displaced: () => void;
  readonly drain: (change: MemberDrainChange) => void;
  readonly error: (error: unknown) => void;
}

/** How many different problems of one loss are written. */
const problemsMax = 10;

/**
 * Writes a line when the fleet is joined, and one for each problem when it is lost, or when nothing can be written. Tries
 * to connect, and to write, are not written.
 */
export function fleetLines(log: Logger): FleetLines {
  const errors = new LimitedLines(log, { what: "internal errors", level: "error", max: 5, periodMs: 60_000 });
  const phases = new LimitedLines(log, { what: "etcd of the fleet", level: "warn", max: 10, periodMs: 60_000 });
  /** Of this loss. Members of etcd that are tried in turn fail in different ways. */
  const problems = new Set<string>();
  return {
    phase: (phase) => {
      const problem = "problem" in phase ? phase.problem : null;
      if (phase.kind === "joined" && problem === null) {
        problems.clear();
        phases.write({ level: "info", text: "fleet joined" }, () => ({ event: "fleet_joined" }));
      }
      if (problem === null || problems.has(problem) || problems.size >= problemsMax) return;
      problems.add(problem);
      const [text, event] =
        phase.kind === "joined"
          ? ["etcd of the fleet takes nothing that is written; everything stays as it is", "fleet_refused"]
          : ["etcd of the fleet is lost; everything stays as it is", "fleet_lost"];
      phases.write({ level: "warn", text }, () => ({ event, problem }));
    },
    displaced: () =>
      log.error(
        { event: "fleet_displaced" },
        "another instance advertises the same address: this one leaves the fleet",
      ),
    drain: ({ member, drain, by }) =>
      drain === null
        ? log.info({ audit: true, member, ended_by: by }, "the drain of a member of the fleet has ended")
        : log.info({ audit: true, member, ...drain }, "member of the fleet drained"),
    error: (err) => errors.write({ level: "error", text: "the fleet has an internal error" }, () => ({ err })),
  };
}
