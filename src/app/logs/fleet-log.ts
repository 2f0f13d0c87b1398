import type { MemberDrainChange } from "../../fleet/ownership/fleet-membership.ts";
import type { StorePhase } from "../../fleet/ownership/fleet-store.ts";
import { LimitedLines } from "../../log/limited-lines.ts";
import type { Logger } from "../../log/logger.ts";

/** What the log says of this instance's part in its fleet. */
export interface FleetLines {
  readonly phase: (phase: StorePhase) => void;
  readonly displaced: () => void;
  readonly drain: (change: MemberDrainChange) => void;
  readonly error: (error: unknown) => void;
}

/** Writes a line when the fleet is joined, and when it is lost. Tries to connect are not written. */
export function fleetLines(log: Logger): FleetLines {
  const errors = new LimitedLines(log, { what: "internal errors", level: "error", max: 5, periodMs: 60_000 });
  let lastProblem: string | null = null;
  return {
    phase: (phase) => {
      if (phase.kind === "joined") {
        lastProblem = null;
        log.info({ event: "fleet_joined" }, "fleet joined");
      }
      if (phase.kind !== "apart" || phase.problem === lastProblem) return;
      lastProblem = phase.problem;
      log.warn({ event: "fleet_lost", problem: phase.problem }, "etcd of the fleet is lost; everything stays as it is");
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
