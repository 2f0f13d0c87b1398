import type { GuardedRun } from "../../../../src/features/switchover/guardian/messages.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { switchoverPlan } from "../../../fake/switchover-plan.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";

/** What a guardian is given for PgBouncers. */
export function guardedOf(poolers: readonly FakePgbouncer[], names = poolers.map((_, at) => `pgb${at}`)): GuardedRun {
  const targets = poolers.map((pooler, at) => ({
    pooler: names[at] ?? "",
    database: "orders",
    console: pooler.target,
  }));
  const evidence = { systemIdentifier: null, timeline: null };
  const finish = { generation: 1, start: "request", leader: "pg1", candidate: "pg2", mayBeRequested: false, evidence };
  return {
    intent: { run: "r1", cluster: "demo", deadlineWallMs: 0, targets, finish: { ...finish, start: "request" } },
    plan: {
      ...switchoverPlan,
      limits: { ...switchoverPlan.limits, quietMs: 100 },
      peers: [],
      targets: targets.map(({ pooler, database }, at) => ({ pooler, database, routes: [at] })),
      routes: targets.map(({ pooler, database }) => ({ balancer: pooler, database })),
    },
    config: configOf({ clusters: [clusterOf({ name: "demo", nodes: [] })] }),
    intentsPath: null,
    routeWaitMs: 0,
  };
}
