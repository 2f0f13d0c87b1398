import type { Feature, Opened } from "../../core/feature/feature.ts";
import { nodeProbes } from "../../core/feature/offers.ts";
import { hasCompanions } from "./local-probes.ts";

/** Checks the programs beside databases (docs/poolers.md). What they answer is judged by the core. */
export const companionChecks: Feature<Opened> = {
  name: "companions",
  isUsed: hasCompanions,
  load: async () => (await import("./open-companions.ts")).openCompanions,
  gives: [nodeProbes],
  precedesProbes: true,
};
