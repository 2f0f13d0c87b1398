/** What must hold in every state, and between a state and the one before. */
import type { Observation } from "../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../src/core/health/rules/explain.ts";
import type { HealthPolicy } from "../../src/core/health/health-policy.ts";
import type { judge as judgeNode } from "../../src/core/health/rules/judge.ts";
import type { observe as applyOutcome } from "../../src/core/health/observe/observe.ts";
import type { Verdict } from "../../src/core/health/verdict.ts";
import { nodes, soundRound, status, view, type NodeName } from "./alphabet.ts";

/** The functions that are explored. Tests put broken ones here. */
export interface Subject {
  readonly observe: typeof applyOutcome;
  readonly judge: typeof judgeNode;
  readonly policy: HealthPolicy;
}

/** A state at an instant of rolecall's clock. */
export interface Instant {
  readonly cluster: ClusterState;
  readonly nowMs: number;
}

const checks = [plainCheck("primary"), plainCheck("leader"), plainCheck("replica"), plainCheck("read-only")];
const [primary, , replica] = checks as [(typeof checks)[0], (typeof checks)[0], (typeof checks)[0]];

/** Verdicts of all nodes for all checks at an instant, `pg1 primary`, `pg1 leader`, … */
export function verdictsAt({ judge, policy }: Subject, { cluster, nowMs }: Instant): readonly Verdict[] {
  const at = viewAt(cluster, policy, nowMs);
  return cluster.nodes.flatMap((observation) => checks.map((check) => judge(at, observation, check)));
}

/** What is wrong with a state; empty if nothing is. */
export function brokenIn(subject: Subject, instant: Instant, verdicts: readonly Verdict[]): readonly string[] {
  const { cluster, nowMs } = instant;
  const of = (at: number): readonly Verdict[] => verdicts.slice(at * checks.length, (at + 1) * checks.length);
  const problems: string[] = [];
  for (const [index, check] of checks.slice(0, 2).entries())
    if (cluster.nodes.filter((_, at) => of(at)[index]?.fit).length > 1) problems.push(`two nodes for /${check.route}`);
  for (const [at, observation] of cluster.nodes.entries()) {
    const [isPrimary, isLeader, isReplica] = of(at).map(({ fit }) => fit);
    const { name } = observation.node;
    if (isPrimary === true && isReplica === true) problems.push(`${name} is primary and replica`);
    if ((isPrimary === true || isLeader === true) && !isClaimant(subject, observation, nowMs))
      problems.push(`${name} leads without a claim that is younger than max_age`);
    problems.push(...disagreements(subject, instant, observation, of(at)));
  }
  return [...problems, ...brokenBefore(subject, instant, verdicts)];
}

/** What is wrong between two states: an unchanged revision promises that verdicts differ by age alone. */
export function brokenBetween(subject: Subject, before: ClusterState, after: Instant): readonly string[] {
  if (before.revision !== after.cluster.revision || before === after.cluster) return [];
  const was = verdictsAt(subject, { cluster: before, nowMs: after.nowMs });
  const is = verdictsAt(subject, after);
  return was.flatMap((verdict, at) => {
    const now = is[at];
    return now === undefined || verdict.validUntilMs <= after.nowMs || isAlike(verdict, now)
      ? []
      : [`revision ${before.revision} has two verdicts: ${textOf(verdict)} and ${textOf(now)}`];
  });
}

/** The most rounds of sound answers that any state may need until both nodes have the right verdicts. */
export const roundsMax = 3;

/**
 * Counts the rounds of sound answers, one each interval, until the leader is the primary and the other a replica.
 * @returns `null` if more than `roundsMax` are needed
 */
export function roundsUntilRight(
  subject: Subject,
  { cluster, nowMs }: Instant,
  { leader, isLeaderFirst }: { readonly leader: NodeName; readonly isLeaderFirst: boolean },
): number | null {
  let state = cluster;
  let atMs = nowMs;
  for (let round = 1; round <= roundsMax; round += 1) {
    atMs += subject.policy.intervalMs;
    for (const outcome of soundRound(leader, isLeaderFirst)) {
      state = subject.observe(state, outcome(atMs), { policy: subject.policy, nowMs: atMs + 10 });
      atMs += 20;
    }
    const at = viewAt(state, subject.policy, atMs);
    const isRight = state.nodes.every(
      (observation) => subject.judge(at, observation, observation.node.name === leader ? primary : replica).fit,
    );
    if (isRight) return round;
  }
  return null;
}

/** Whether the newest answer of a node is a claim, and young enough for a yes (rules 1 and 2). */
function isClaimant({ policy }: Subject, { hasLock, sentAtMs, isDown }: Observation, nowMs: number): boolean {
  return hasLock && !isDown && nowMs - sentAtMs < policy.maxAgeMs;
}

/** The explanation must have the verdict, and name the rule of a no. */
function disagreements(
  { policy }: Subject,
  { cluster, nowMs }: Instant,
  observation: Observation,
  verdicts: readonly Verdict[],
): readonly string[] {
  const at = viewAt(cluster, policy, nowMs);
  return checks.flatMap((check, index) => {
    const { verdict, decisive } = explain(at, observation, check);
    const judged = verdicts[index];
    const subject = `${observation.node.name} ${check.route}`;
    if (judged === undefined || !isAlike(verdict, judged)) return [`${subject}: the explanation has another verdict`];
    return verdict.fit === (decisive === null) ? [] : [`${subject}: the explanation names no rule`];
  });
}

/** A verdict must stay the same until it expires. */
function brokenBefore(subject: Subject, { cluster, nowMs }: Instant, verdicts: readonly Verdict[]): readonly string[] {
  const expiries = new Set(verdicts.map(({ validUntilMs }) => validUntilMs).filter((untilMs) => untilMs < Infinity));
  return [...expiries].flatMap((untilMs) => {
    if (untilMs <= nowMs) return [`a verdict has expired when it is made: ${untilMs} at ${nowMs}`];
    const later = verdictsAt(subject, { cluster, nowMs: untilMs - 1 });
    return verdicts.flatMap((verdict, at) => {
      const then = later[at];
      return verdict.validUntilMs < untilMs || then === undefined || isAlike(verdict, then)
        ? []
        : [`${textOf(verdict)} becomes ${textOf(then)} ${untilMs - 1 - nowMs} ms later, before it expires`];
    });
  });
}

function isAlike(one: Verdict, other: Verdict): boolean {
  return one.fit ? other.fit : !other.fit && one.reason === other.reason;
}

function textOf(verdict: Verdict): string {
  return verdict.fit ? "fit" : verdict.reason;
}

/** A settled cluster, from which a switchover is explored: pg1 leads, and both nodes say so. */
export function settledOutcomes(): readonly ReturnType<typeof status>[] {
  return [status(nodes[0], true, 1), status(nodes[1], false, 1), view(nodes[0], nodes[0]), view(nodes[1], nodes[0])];
}
