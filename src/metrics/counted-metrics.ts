/** A metric of rolecall itself that is counted where something happens. Every label comes from a short list. */
export interface CountedMetric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets of a histogram, in seconds. */
  readonly buckets?: readonly number[];
  /** Label values that are 0 from the start: `increase()` does not see the first event of a sample that begins with 1. */
  readonly zeros?: readonly Readonly<Record<string, string>>[];
}

/** What is counted. */
export const countedMetrics = {
  reloads: {
    type: "counter",
    name: "rolecall_reloads_total",
    help: "Reloads of the configuration.",
    labels: ["outcome"],
    zeros: [{ outcome: "applied" }, { outcome: "refused" }],
  },
  disputes: {
    type: "counter",
    name: "rolecall_disputes_total",
    help: "Episodes in which several nodes claimed the lock, or one that the cluster did not confirm.",
    labels: ["cluster"],
  },
  bursts: {
    type: "counter",
    name: "rolecall_bursts_total",
    help: "Bursts of probes, by the cause that began them.",
    labels: ["cluster", "cause"],
  },
  burstProbes: {
    type: "counter",
    name: "rolecall_burst_probes_total",
    help: "Probes that bursts sent.",
    labels: ["cluster"],
  },
  hints: {
    type: "counter",
    name: "rolecall_hints_total",
    help: "Hints received on admin listeners, by what they did.",
    labels: ["cluster", "effect"],
  },
  dcsReads: {
    type: "counter",
    name: "rolecall_dcs_reads_total",
    help: "Linearizable reads of the leader key in the DCS.",
    labels: ["cluster", "outcome"],
  },
  dcsWatchEnds: {
    type: "counter",
    name: "rolecall_dcs_watch_ends_total",
    help: "Watches of the DCS that ended and were opened again, by cause.",
    labels: ["cluster", "cause"],
  },
  dcsWithdrawals: {
    type: "counter",
    name: "rolecall_dcs_withdrawals_total",
    help: "Times that the leader key stopped naming a member, which then gets no yes as the leader.",
    labels: ["cluster"],
  },
  managementCalls: {
    type: "histogram",
    name: "rolecall_management_call_duration_seconds",
    help: "Management calls by call and status, and how long they took.",
    labels: ["cluster", "call", "method", "status"],
    buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 60, 300],
  },
  rejected: {
    type: "counter",
    name: "rolecall_requests_rejected_total",
    help: "Rejected requests and connections by the status answered (connection: closed without an answer) and the reason.",
    labels: ["status", "reason"],
  },
  contained: {
    type: "counter",
    name: "rolecall_contained_errors_total",
    help: "Internal errors that affected one answer or connection; process: caught by the process-wide handler.",
    labels: ["scope"],
  },
  switchovers: {
    type: "counter",
    name: "rolecall_switchovers_total",
    help: "Seamless switchovers by their outcome.",
    labels: ["cluster", "outcome"],
  },
  switchoverHeld: {
    type: "histogram",
    name: "rolecall_switchover_held_seconds",
    help: "For how long a seamless switchover held the clients of the poolers.",
    labels: ["cluster"],
    buckets: [0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 5, 10, 15, 30],
  },
  agentAnswers: {
    type: "counter",
    name: "rolecall_agent_answers_total",
    help: "Answers to HAProxy's agent checks: use, drain, checks (left to the health checks), unknown (no server named).",
    labels: ["answer"],
  },
  balancerUp: {
    type: "gauge",
    name: "rolecall_balancer_up",
    help: "Whether the API of a balancer can be used: 1, or 0 if it is unreachable, silent or without permission.",
    labels: ["balancer"],
  },
  balancerPushes: {
    type: "counter",
    name: "rolecall_balancer_pushes_total",
    help: "Changes of verdicts for the servers of balancers, by what came of them.",
    labels: ["balancer", "outcome"],
  },
  balancerCuts: {
    type: "counter",
    name: "rolecall_balancer_session_cuts_total",
    help: "Servers whose sessions were closed because another node leads.",
    labels: ["balancer"],
  },
  xdsStreams: {
    type: "gauge",
    name: "rolecall_xds_streams",
    help: "Open streams of Envoys, by listener with the dialect xds.",
    labels: ["listener"],
  },
  xdsResponses: {
    type: "counter",
    name: "rolecall_xds_responses_total",
    help: "Responses that were sent to Envoys, by listener.",
    labels: ["listener"],
  },
  xdsRefusals: {
    type: "counter",
    name: "rolecall_xds_refusals_total",
    help: "Responses that an Envoy refused (NACK), by listener. It keeps its last assignment.",
    labels: ["listener"],
  },
  gcPauses: {
    type: "histogram",
    name: "rolecall_gc_pause_seconds",
    help: "Pauses of the main process for garbage collection.",
    labels: [],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
  },
  balancerPushDurations: {
    type: "histogram",
    name: "rolecall_balancer_push_duration_seconds",
    help: "Time from the change of a verdict to the balancer's answer.",
    labels: ["balancer"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;
