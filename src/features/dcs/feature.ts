import type { Feature, Opened } from "../../core/feature/feature.ts";
import { pendingChanges } from "../../core/feature/offers.ts";

/** Watches the leader key in the DCS of clusters (docs/reaction-time.md). What it says is judged by the core. */
export const dcsEvidence: Feature<Opened> = {
  name: "dcs",
  isUsed: ({ clusters }) => clusters.some((cluster) => cluster.dcs !== null),
  load: async () => (await import("./open-dcs.ts")).openDcs,
  gives: [pendingChanges],
};
