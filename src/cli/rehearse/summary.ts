import { adviceFor, type Advice } from "./measure/advice.ts";
import { lateWrites, outageOf, phasesOf, type Outage, type OutagePhase } from "./measure/phases.ts";
import { tallyWrites, type WriteTally } from "./measure/writes.ts";
import type { RehearsalPlan } from "./plan.ts";
import type { Rehearsed } from "./rehearsal.ts";

/** The result of a rehearsal, for people and programs. */
export interface RehearsalSummary {
  readonly phases: readonly OutagePhase[];
  readonly outage: Outage | null;
  readonly tally: WriteTally;
  readonly lateWrites: number;
  readonly advice: readonly Advice[];
  /** The names of nodes by the address of their database. */
  readonly names: ReadonlyMap<string, string>;
}

/** Derives phases, outage, counts and advice from what was measured. */
export function summarizeRehearsal(plan: RehearsalPlan, rehearsed: Rehearsed): RehearsalSummary {
  const { recording, present, probeIntervalMs } = rehearsed;
  const tally = tallyWrites(recording.attempts, present);
  const phases = phasesOf(recording);
  const late = lateWrites(recording).length;
  const readOnlyWrites = tally.servers
    .filter(({ isInRecovery }) => isInRecovery)
    .reduce((sum, { notAcknowledged }) => sum + notAcknowledged, 0);
  const advice = adviceFor({
    phases,
    isKill: plan.options.cause.kind === "kill",
    writeIntervalMs: recording.writeIntervalMs,
    probeIntervalMs,
    readOnlyWrites,
    lateWrites: late,
    hasNodeSamples: plan.pool.nodeTargets.size > 0,
    edges: plan.options.edges,
  });
  return { phases, outage: outageOf(recording), tally, lateWrites: late, advice, names: namesOf(plan) };
}

function namesOf({ cluster, pool, leader }: RehearsalPlan): ReadonlyMap<string, string> {
  const known = cluster.nodes.flatMap(({ node, database }) => (database === null ? [] : [[database, node] as const]));
  return new Map([[pool.server.address, leader], ...known]);
}
