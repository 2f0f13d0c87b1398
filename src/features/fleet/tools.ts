import type { ServerCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of a fleet. */
export const fleetChecks: readonly ServerCheck[] = [
  { id: "fleet", isListed: false, load: async () => (await import("./cli/check-fleet.ts")).checkFleetMembers },
];
