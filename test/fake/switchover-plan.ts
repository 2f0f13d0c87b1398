import type { SwitchoverPlan } from "../../src/features/switchover/machine/plan.ts";

/** The plan of a switchover of `demo` from pg1 to pg2, with two targets, one route and a peer. */
export const switchoverPlan: SwitchoverPlan = {
  run: "r1",
  cluster: "demo",
  leader: "pg1",
  candidate: "pg2",
  isDryRun: false,
  start: "request",
  restart: null,
  targets: [
    { pooler: "pgb1", database: "orders", routes: [0] },
    { pooler: "pgb2", database: "orders", routes: [0] },
  ],
  routes: [{ balancer: "lb1", database: null }],
  peers: ["peer1"],
  cutsAtEnd: false,
  limits: {
    checkMs: 10_000,
    claimMs: 3_000,
    tellMs: 1_000,
    lookMs: 2_000,
    settleMs: 5_000,
    refusedMs: 1_000,
    armMs: 2_000,
    pauseMs: 3_000,
    deadlineMs: 15_000,
    silenceMs: 1_000,
    resumeMs: 250,
    quietMs: 10_000,
    followMs: 60_000,
  },
};
