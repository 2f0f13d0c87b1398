import type { Feature } from "../../core/feature/feature.ts";
import { auditTargets } from "../../core/feature/offers.ts";
import { answerAudit, answerRoads } from "./audit-api.ts";
import { auditMetrics } from "./audit-metrics.ts";
import { routeFindingSubject } from "./core/route-finding.ts";
import type { RunningAudit } from "./open-audit.ts";
import { routesFound, routesSeen } from "./conditions.ts";

/** The audit: where balancers and poolers really send clients (docs/audit.md). */
export const audit: Feature<RunningAudit> = {
  name: "audit",
  isUsed: ({ audit: { intervalMs, envoys } }, isGiven) =>
    intervalMs > 0 && (envoys.length > 0 || isGiven(auditTargets)),
  load: async () => (await import("./open-audit.ts")).openAudit,
  routes: { audit: (running, call) => answerAudit(running, call) },
  clusterRoutes: { audit: (running, call) => answerRoads(running, call) },
  metrics: auditMetrics,
  conditions: (running, cluster) => routesFound(running.findings(cluster)),
  seen: (running, cluster) => routesSeen(running.targets, cluster).map((text) => ({ of: "routes", text })),
  overview: (running, cluster) => {
    const routes = running.findings(cluster).map((finding) => `${routeFindingSubject(finding)} ${finding.what}`);
    return routes.length === 0 ? {} : { routes };
  },
};
