/** Visits every state that a sequence of events can reach, shortest sequences first. */
import { createHash } from "node:crypto";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { nodes, type Letter } from "./alphabet.ts";
import { canonical } from "./canonical.ts";
import { brokenBetween, brokenIn, roundsUntilRight, settledOutcomes, verdictsAt } from "./promises.ts";
import type { Instant, Subject } from "./promises.ts";
import { unprobedCluster } from "./unprobed-cluster.ts";

/** A state and the events that led to it. */
interface Visit extends Instant {
  readonly letter: Letter | null;
  readonly from: Visit | null;
}

/** What an exploration found at one depth. */
export interface Level {
  readonly depth: number;
  /** New states: no rule tells the states of two of them apart. */
  readonly states: number;
  readonly transitions: number;
}

export interface Exploration {
  readonly levels: readonly Level[];
  /** States by the rounds of sound answers that they needed. */
  readonly rounds: ReadonlyMap<number, number>;
  /** The first broken promise, with the events that lead to it; `null` if none was broken. */
  readonly violation: { readonly problem: string; readonly events: readonly string[] } | null;
}

export interface ExploreOptions {
  readonly alphabet: readonly Letter[];
  readonly depth: number;
  /** Whether to start from a cluster that `pg1` leads, in place of one that was never probed. */
  readonly isSettled: boolean;
  /** Receives each level when it is complete. */
  readonly report?: (level: Level) => void;
}

/** Explores breadth first. @returns the levels, and the first violation of a promise */
export function explore(subject: Subject, { alphabet, depth, isSettled, report }: ExploreOptions): Exploration {
  let frontier: readonly Visit[] = [{ ...start(subject, isSettled), letter: null, from: null }];
  const seen = new Set(frontier.map(keyOf));
  const levels: Level[] = [];
  const rounds = new Map<number, number>();
  for (let level = 1; level <= depth; level += 1) {
    const next: Visit[] = [];
    for (const visit of frontier)
      for (const letter of alphabet) {
        const after = advance(subject, visit, letter);
        const problem = brokenBetween(subject, visit.cluster, after)[0];
        if (problem !== undefined) return { levels, rounds, violation: violationOf(problem, after) };
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        const broken = brokenIn(subject, after, verdictsAt(subject, after))[0] ?? heal(subject, after, rounds);
        if (broken !== undefined) return { levels, rounds, violation: violationOf(broken, after) };
        if (level < depth) next.push(after);
      }
    const states = seen.size - 1 - levels.reduce((sum, { states: count }) => sum + count, 0);
    const found: Level = { depth: level, states, transitions: frontier.length * alphabet.length };
    levels.push(found);
    report?.(found);
    frontier = next;
  }
  return { levels, rounds, violation: null };
}

/** Every state must become right again, whichever node leads then and whichever answers first. */
function heal(subject: Subject, instant: Instant, rounds: Map<number, number>): string | undefined {
  for (const leader of nodes)
    for (const isLeaderFirst of [true, false]) {
      const needed = roundsUntilRight(subject, instant, { leader, isLeaderFirst });
      if (needed === null) return `${leader} leads, and the verdicts stay wrong`;
      rounds.set(needed, (rounds.get(needed) ?? 0) + 1);
    }
  return undefined;
}

/** States are hashed, because millions of them must fit into memory. */
function keyOf({ cluster, nowMs }: Instant): string {
  return createHash("sha1").update(canonical(cluster, nowMs)).digest("base64");
}

function start(subject: Subject, isSettled: boolean): Instant {
  const nowMs = 100_000;
  const outcomes = isSettled ? settledOutcomes() : [];
  const cluster = outcomes.reduce<ClusterState>(
    (state, outcome) => subject.observe(state, outcome(nowMs - 10), { policy: subject.policy, nowMs }),
    unprobedCluster(nodes),
  );
  return { cluster, nowMs };
}

function advance({ observe, policy }: Subject, visit: Visit, letter: Letter): Visit {
  const nowMs = visit.nowMs + letter.advanceMs;
  const outcome = letter.outcome?.(nowMs - 10 - letter.lateMs);
  const cluster = outcome === undefined ? visit.cluster : observe(visit.cluster, outcome, { policy, nowMs });
  return { cluster, nowMs, letter, from: visit };
}

function violationOf(problem: string, visit: Visit): NonNullable<Exploration["violation"]> {
  const events: string[] = [];
  for (let at: Visit | null = visit; at !== null; at = at.from) if (at.letter !== null) events.unshift(at.letter.name);
  return { problem, events };
}
