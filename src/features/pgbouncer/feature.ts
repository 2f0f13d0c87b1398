import type { Feature } from "../../core/feature/feature.ts";
import { auditTargets } from "../../core/feature/offers.ts";
import { deadPoolerText, poolersFound } from "./conditions.ts";
import type { RunningPoolers } from "./open-pgbouncer.ts";

/** PgBouncers: whether they answer, and their databases, which follow the verdicts by files (docs/poolers.md). */
export const pgbouncer: Feature<RunningPoolers> = {
  name: "pgbouncer",
  isUsed: ({ poolers }) => poolers.length > 0,
  gives: [auditTargets],
  load: async () => (await import("./open-pgbouncer.ts")).openPgbouncer,
  metrics: [
    {
      type: "gauge",
      name: "rolecall_pooler_up",
      help: "Whether a PgBouncer of the configuration answers those who connect, for each cluster that it leads to.",
      read: (running) =>
        (running?.watch.states ?? []).map(({ pooler, cluster, up }) => [{ cluster, pooler }, Number(up)] as const),
    },
  ],
  conditions: ({ watch }, cluster) => poolersFound(cluster, watch.poolersOf(cluster)),
  overview: ({ watch }, cluster) => {
    const poolers = watch
      .poolersOf(cluster)
      .flatMap((one) => (one.dead === null ? [] : [deadPoolerText(one, one.dead.problem)]));
    return poolers.length === 0 ? {} : { poolers };
  },
};
