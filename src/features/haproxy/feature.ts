import type { Feature, Opened } from "../../core/feature/feature.ts";
import { auditTargets } from "../../core/feature/offers.ts";

/** HAProxies whose servers follow the verdicts, by their Runtime API (docs/reaction-time.md). */
export const haproxy: Feature<Opened> = {
  name: "haproxy",
  isUsed: ({ balancers }) => balancers.length > 0,
  gives: [auditTargets],
  load: async () => (await import("./open-haproxy.ts")).openHaproxy,
};
