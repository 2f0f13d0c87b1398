import type { OutagePhase, PhaseName } from "./phases.ts";

/** What the advice is derived from. Times are in ms. */
export interface AdviceInputs {
  readonly phases: readonly OutagePhase[];
  /** The outage was a kill, so nothing announced it to rolecall. */
  readonly isKill: boolean;
  readonly writeIntervalMs: number;
  /** The usual time between two reports of a node, before the request; `null` if it was not seen. */
  readonly probeIntervalMs: number | null;
  /** The number of writes that reached a server in recovery. */
  readonly readOnlyWrites: number;
  /** The number of writes that the old primary acknowledged after the promotion. */
  readonly lateWrites: number;
  /** Whether `--node-dsn` named the nodes that changed roles. */
  readonly hasNodeSamples: boolean;
  /** How many instances of rolecall the checks of the balancer go through; `null` if no file says it. */
  readonly edges: number | null;
}

/** One way to shorten the outage, or to measure it better. */
export interface Advice {
  /** The measured fact. */
  readonly message: string;
  readonly action: string;
}

/** The times above which a phase is worth advice, in ms. */
const worthMs = { demoted: 2_000, kill: 1_000, promoted: 2_000, yes: 300, switched: 250, write: 250 } as const;

/** Derives what would shorten the outage from the measured phases. */
export function adviceFor(inputs: AdviceInputs): readonly Advice[] {
  return [
    ...demotionAdvice(inputs),
    ...promotionAdvice(inputs),
    ...answerAdvice(inputs),
    ...balancerAdvice(inputs),
    ...routingAdvice(inputs),
    ...measurementAdvice(inputs),
  ];
}

/** The time from one phase to the next; `null` if one of them was not seen. Negative times are 0. */
export function stepMs(phases: readonly OutagePhase[], from: PhaseName | "request", to: PhaseName): number | null {
  const at = (name: PhaseName): number | null => phases.find(({ phase }) => phase === name)?.afterRequestMs ?? null;
  const start = from === "request" ? 0 : at(from);
  const end = at(to);
  return start === null || end === null ? null : Math.max(0, end - start);
}

function demotionAdvice({ phases, isKill }: AdviceInputs): readonly Advice[] {
  const ms = stepMs(phases, "request", "demoted");
  if (isKill || ms === null || ms < worthMs.demoted) return [];
  return [
    {
      message: `The old primary took ${seconds(ms)} to stop writing.`,
      action:
        "Run CHECKPOINT before a planned switchover, and end long transactions: Patroni waits for the shutdown " +
        "checkpoint.",
    },
  ];
}

function promotionAdvice({ phases, isKill }: AdviceInputs): readonly Advice[] {
  const ms = isKill ? stepMs(phases, "request", "promoted") : stepMs(phases, "demoted", "promoted");
  if (ms === null || ms < worthMs.promoted) return [];
  const action = isKill
    ? "The lock of a silent leader expires after ttl: lower ttl, within ttl >= loop_wait + 2 * retry_timeout."
    : "Read the log of the new primary's Patroni. A lower loop_wait lets it look for the lock sooner.";
  const from = isKill ? "the kill" : "the demotion";
  return [{ message: `The cluster took ${seconds(ms)} from ${from} to the promotion.`, action }];
}

function answerAdvice({ phases, isKill, probeIntervalMs }: AdviceInputs): readonly Advice[] {
  const ms = stepMs(phases, "promoted", "first_yes");
  if (ms === null || ms < worthMs.yes) return [];
  const interval =
    probeIntervalMs === null ? "" : ` Without a hint, rolecall probes a node every ${seconds(probeIntervalMs)}.`;
  const announced = isKill
    ? ""
    : " A switchover through rolecall is announced to it; a failover is not, and takes longer without hints.";
  return [
    {
      message: `rolecall accepted the new primary ${seconds(ms)} after the promotion.${interval}`,
      action: `Send hints from the nodes, or lower probe.burst_interval or probe.interval.${announced}`,
    },
  ];
}

function balancerAdvice({ phases, writeIntervalMs, edges }: AdviceInputs): readonly Advice[] {
  const ms = stepMs(phases, "first_yes", "switched");
  const write = stepMs(phases, "switched", "first_write");
  const slowSwitch = ms !== null && ms >= worthMs.switched + writeIntervalMs;
  const slowWrite = write !== null && write >= worthMs.write + writeIntervalMs;
  return [
    ...(slowSwitch
      ? [
          {
            message: `The balancer switched to the new primary ${seconds(ms)} after rolecall accepted it.`,
            action: intervalAdvice(edges),
          },
        ]
      : []),
    ...(slowWrite
      ? [
          {
            message: `The first write was acknowledged ${seconds(write)} after the pool reached the new primary.`,
            action: "Look for what delays commits there: synchronous_standby_names without a standby, or a cold cache.",
          },
        ]
      : []),
  ];
}

/** One instance that is restarted must not take out the primary: hence its pools need a longer fall (haproxy-pools.ts). */
function intervalAdvice(edges: number | null): string {
  const lower =
    "Lower the interval of its checks: HAProxy needs rise × inter (2 × 2 s by default). Checks through rolecall are " +
    "answered from memory, so inter 100ms to 200ms is fine";
  if (edges === null) return `${lower}; keep fall × inter at 1.5 s or more if rolecall is not redundant.`;
  if (edges > 1) return `${lower}: the checks go through ${edges} instances of rolecall, so fall 1 is safe.`;
  return (
    "Run a second instance of rolecall and render with --edge twice: the checks go through one instance, so fall × " +
    "inter must be 1.5 s or more, and rise × inter longer than that."
  );
}

function routingAdvice({ readOnlyWrites, lateWrites }: AdviceInputs): readonly Advice[] {
  return [
    ...(readOnlyWrites > 0
      ? [
          {
            message: `The pool sent ${count(readOnlyWrites)} to a server in recovery.`,
            action:
              "Check the pool with GET /primary on rolecall, with fall 1 and on-marked-down shutdown-sessions for it.",
          },
        ]
      : []),
    ...(lateWrites > 0
      ? [
          {
            message: `The old primary acknowledged ${count(lateWrites)} after another node was promoted.`,
            action:
              "These writes are likely lost. Check Patroni's watchdog, and let the balancer drop the old primary " +
              "before it admits the new one (rise 2 fall 1).",
          },
        ]
      : []),
  ];
}

function measurementAdvice({ hasNodeSamples }: AdviceInputs): readonly Advice[] {
  if (hasNodeSamples) return [];
  return [
    {
      message: "The demotion and the promotion are known only from the nodes' documents, as rolecall received them.",
      action: "Pass --node-dsn NAME=DSN for each node to measure them every 10 ms.",
    },
  ];
}

function count(writes: number): string {
  return writes === 1 ? "1 write" : `${writes} writes`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
