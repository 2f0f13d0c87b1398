/** What the server shows of a seamless switchover of the cluster `demo`. */
const target = { pooler: "pgb1", database: "orders", phase: null, held_ms: null };
/** `GET /clusters/demo/switchover/run` at the begin. */
export const begunRun = {
  run: "r1",
  cluster: "demo",
  by: "ops",
  leader: "pg1",
  candidate: "pg2",
  dry_run: false,
  started_at: "2026-11-27T04:00:00.000Z",
  elapsed_ms: 0,
  state: "checking",
  deadline_in_ms: null,
  preflight: [],
  forecast_ms: null,
  steps: [],
  targets: [target],
  outcome: null,
  text: null,
};
const preflight = [
  { level: "ok", subject: "leader", text: "pg1 is the only primary that takes writes", hint: null },
  { level: "warning", subject: "pgb1", text: "server_login_retry must be at most 1 (s)", hint: "Set it to 1." },
];
const step = (name: string, afterMs: number, text: string | null = null): object => ({
  step: name,
  text,
  after_ms: afterMs,
});
/** Once the checks are done. */
export const checkedRun = {
  ...begunRun,
  state: "pausing",
  preflight,
  forecast_ms: 1_900,
  steps: [step("checked", 1_120)],
};
/** All steps of a switchover. */
export const runSteps: readonly object[] = [
  ...checkedRun.steps,
  step("armed", 1_200),
  step("paused", 1_210),
  step("requested", 1_210),
  step("note", 1_300, "pgb1/orders closed the connection"),
  step("writable", 2_900, "pg2"),
  step("routed", 2_950),
  step("resuming", 2_950),
  step("resumed", 3_012),
];
/** At the end of a switchover. */
export const switchedRun = {
  ...checkedRun,
  state: "ended",
  steps: runSteps,
  targets: [{ ...target, held_ms: 1_790.4 }],
  outcome: { kind: "switched", node: "pg2" },
  text: "pg2 is the primary, and clients go on there.",
};
/** At the end of a run that ended in this way. */
export const endedRun = (kind: string, text: string): object => ({
  ...checkedRun,
  state: "ended",
  outcome: { kind },
  text,
});
