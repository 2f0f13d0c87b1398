import type { Feature, Opened } from "../../core/feature/feature.ts";
import { nodeProbes } from "../../core/feature/offers.ts";
import { hasExporters } from "./local-probes.ts";

/** Probes exporters of nodes (docs/exporters.md). What their pages say is judged by the core. */
export const exporterProber: Feature<Opened> = {
  name: "exporter",
  isUsed: hasExporters,
  load: async () => (await import("./open-exporter-probes.ts")).openExporterProbes,
  gives: [nodeProbes],
  precedesProbes: true,
};
