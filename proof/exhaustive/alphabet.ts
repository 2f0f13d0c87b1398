/** The events that are explored: every answer that two nodes can give about who leads, each as a constant outcome. */
import { impliedReport } from "../../src/core/cluster/incident/incident.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { Report } from "../../src/core/cluster/documents/report.ts";
import { failedOutcome, leaderViewOutcome, viewFailureOutcome } from "../../test/core/health/arbitraries.ts";

/** The two nodes. */
export const nodes = ["pg1", "pg2"] as const;
export type NodeName = (typeof nodes)[number];

/** Time passes in intervals, in ms of rolecall's clock. Answers take no time beside it. */
const intervalMs = 1_000;
const beyondMaxAgeMs = 3_000;

/** One letter of the alphabet. */
export interface Letter {
  readonly name: string;
  /** How far the clock advances. */
  readonly advanceMs: number;
  /** How long the answer was on its way, in ms: a whole interval where it may arrive after newer answers. */
  readonly lateMs: number;
  /** The outcome of a request that was sent at an instant; `null` if only time passes. */
  readonly outcome: ((sentAtMs: number) => ProbeOutcome) | null;
}

/** Reports are constants, so that states can be compared by identity. */
const reports = new Map<string, Report>(
  nodes.flatMap((node) =>
    [true, false].flatMap((hasLock) =>
      [1, 2, 3].map((timeline): readonly [string, Report] => [
        `${node} ${hasLock} ${timeline}`,
        {
          ...impliedReport(node, hasLock, { scope: "demo", system: "1", version: "4.1.4", members: new Map() }),
          timeline,
          ...(hasLock ? { location: 1_000 } : { received: 1_000, replayed: 1_000 }),
        },
      ]),
    ),
  ),
);

/** The answer to a status probe: a leader on a timeline, or a replica. */
export function status(node: NodeName, hasLock: boolean, timeline: number): (sentAtMs: number) => ProbeOutcome {
  const report = reports.get(`${node} ${hasLock} ${timeline}`);
  if (report === undefined) throw new Error(`Cannot report: timeline must be 1, 2 or 3, got ${timeline}`);
  const result = { report, hasLock };
  return (sentAtMs) => ({ kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: 0, result });
}

/** The cluster document of a node. */
export function view(witness: NodeName, leader: NodeName | null): (sentAtMs: number) => ProbeOutcome {
  return (sentAtMs) => leaderViewOutcome(witness, leader, sentAtMs);
}

function at(name: string, outcome: Letter["outcome"], lateMs = 0): Letter {
  return { name, advanceMs: 0, lateMs, outcome };
}

const oneInterval: Letter = { name: "an interval passes", advanceMs: intervalMs, lateMs: 0, outcome: null };
const maxAge: Letter = { name: "max_age passes", advanceMs: beyondMaxAgeMs, lateMs: 0, outcome: null };

const leads = (node: NodeName, timeline: number): Letter =>
  at(`${node} leads on timeline ${timeline}`, status(node, true, timeline));
const leadsLate = (node: NodeName): Letter =>
  at(`${node} leads on timeline 1, late`, status(node, true, 1), intervalMs);
const follows = (node: NodeName): Letter => at(`${node} follows`, status(node, false, 1));
const isSilent = (node: NodeName): Letter => at(`${node} does not answer`, (sentAtMs) => failedOutcome(node, sentAtMs));
const names = (witness: NodeName, leader: NodeName | null): Letter =>
  at(`${witness} names ${leader ?? "nobody"}`, view(witness, leader));
const givesNoView = (node: NodeName): Letter =>
  at(`${node} gives no view`, (sentAtMs) => viewFailureOutcome(node, sentAtMs));

/** The alphabets. All events in one alphabet would leave room for few events in a row. */
export const alphabets: ReadonlyMap<string, readonly Letter[]> = new Map([
  [
    "claims, silence and views",
    [
      leads("pg1", 1),
      leads("pg2", 2),
      ...nodes.flatMap((node) => [follows(node), isSilent(node), names(node, "pg1"), names(node, "pg2")]),
      oneInterval,
    ],
  ],
  [
    "views of every kind",
    [
      leads("pg1", 1),
      leads("pg2", 1),
      ...nodes.flatMap((node) => [names(node, "pg1"), names(node, "pg2"), names(node, null), givesNoView(node)]),
      oneInterval,
    ],
  ],
  [
    "late answers and old evidence",
    [
      leads("pg1", 1),
      leads("pg2", 2),
      ...nodes.flatMap((node) => [leadsLate(node), follows(node), names(node, "pg2")]),
      oneInterval,
      maxAge,
    ],
  ],
]);

/**
 * One round of answers of a sound cluster, in which one node leads on timeline 3 and the other follows.
 * @param isLeaderFirst whether the leader answers before the replica
 */
export function soundRound(leader: NodeName, isLeaderFirst: boolean): readonly ((sentAtMs: number) => ProbeOutcome)[] {
  const replica = leader === "pg1" ? "pg2" : "pg1";
  const statuses = [status(leader, true, 3), status(replica, false, 3)];
  const views = [view(leader, leader), view(replica, leader)];
  return isLeaderFirst ? [...statuses, ...views] : [...statuses.toReversed(), ...views.toReversed()];
}
