import type { Feature } from "../../core/feature/feature.ts";
import { evidenceBringers } from "../../core/feature/offers.ts";
import { answerFleet } from "./fleet-api.ts";
import { fleetMetrics } from "./fleet-metrics.ts";
import type { RunningFleet } from "./open-fleet.ts";

/**
 * Shares the probes of clusters with the other members of a fleet (docs/fleet.md). It needs what brings the evidence of
 * clusters that other members probe.
 */
export const fleet: Feature<RunningFleet> = {
  name: "fleet",
  isUsed: (config) => config.fleet !== null,
  load: async () => (await import("./open-fleet.ts")).openFleet,
  needs: [evidenceBringers],
  precedesProbes: true,
  routes: { fleet: answerFleet },
  metrics: fleetMetrics,
  edges: (running, only) => (only === null ? { fleet: running?.summary() ?? null } : {}),
};
