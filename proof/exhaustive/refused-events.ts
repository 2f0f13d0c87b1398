/** The events of the exploration of refused claims, and the model that judges it. */
import { impliedReport } from "../../src/core/cluster/incident/incident.ts";
import type { Report } from "../../src/core/cluster/documents/report.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import { failedOutcome, leaderViewOutcome, viewFailureOutcome } from "../../test/core/health/arbitraries.ts";
import { exploredPolicy } from "./policy.ts";

export const leader = "pg1";
export const claimant = "pg2";
export const third = "pg3";
export const nodes = [leader, claimant, third] as const;
export type NodeName = (typeof nodes)[number];

/** What the model knows: since pg2 was refused beside pg1, has anything happened that may end that? */
export interface Model {
  /** When pg2's present claim was first seen. */
  readonly claimedMs: number | null;
  /** The newest view of pg3. */
  readonly view: { readonly names: NodeName | null; readonly sentMs: number } | null;
  /** Whether pg2 is marked: pg1 stood, and a view of pg3 that was requested after the claim named pg1. */
  readonly isMarked: boolean;
  /** Since when pg1 has reported that it holds no lock; null: it has not. */
  readonly deniedMs: number | null;
  readonly heardMs: number;
  /** Whom the leader key names while it can be read; null: nobody knows. */
  readonly dcs: NodeName | null;
}

/** One event: time, or what a node answers. */
export interface Event {
  readonly name: string;
  readonly advanceMs: number;
  readonly outcome: ((sentMs: number) => ProbeOutcome) | null;
  readonly after: (model: Model, at: { readonly sentMs: number; readonly stands: boolean }) => Model;
}

const reports = new Map<string, Report>(
  nodes.flatMap((node) =>
    [true, false].map((hasLock): readonly [string, Report] => [
      `${node} ${hasLock}`,
      {
        ...impliedReport(node, hasLock, { scope: "demo", system: "1", version: "4.1.4", members: new Map() }),
        timeline: 1,
        // pg3 receives nothing: while it does, its view of a silent leader counts without a bound.
        replicationState: null,
        ...(hasLock ? { location: 1_000 } : { received: 1_000, replayed: 1_000 }),
      },
    ]),
  ),
);

export function status(node: NodeName, hasLock: boolean): (sentMs: number) => ProbeOutcome {
  const report = reports.get(`${node} ${hasLock}`);
  if (report === undefined) throw new Error(`Cannot report: node must be one of ${nodes.join()}, got ${node}`);
  return (sentAtMs) => ({
    kind: "status",
    cluster: "demo",
    node,
    sentAtMs,
    sentAtWallMs: 0,
    result: { report, hasLock },
  });
}

const same: Event["after"] = (model) => model;

function thirdNames(names: NodeName | null): Event {
  return {
    name: `${third} names ${names ?? "nobody"}`,
    advanceMs: 0,
    outcome: (sentMs) => leaderViewOutcome(third, names, sentMs),
    after: (model, { sentMs, stands }) => {
      const isNewer = model.claimedMs !== null && sentMs > model.claimedMs;
      const begins = isNewer && names === leader && stands && model.dcs !== claimant;
      const isMarked = names === claimant ? false : model.isMarked || begins;
      return { ...model, view: { names, sentMs }, isMarked };
    },
  };
}

/** The events without a DCS. Answers take no time; what passes between them is an interval. */
export const refusedEvents: readonly Event[] = [
  {
    name: `${leader} leads`,
    advanceMs: 0,
    outcome: status(leader, true),
    after: (model, { sentMs }) => ({ ...model, deniedMs: null, heardMs: sentMs }),
  },
  {
    name: `${leader} follows`,
    advanceMs: 0,
    outcome: status(leader, false),
    after: (model, { sentMs }) => ({ ...model, deniedMs: model.deniedMs ?? sentMs, heardMs: sentMs }),
  },
  { name: `${leader} does not answer`, advanceMs: 0, outcome: (sentMs) => failedOutcome(leader, sentMs), after: same },
  {
    name: `${claimant} leads`,
    advanceMs: 0,
    outcome: status(claimant, true),
    after: (model, { sentMs }) => ({ ...model, claimedMs: model.claimedMs ?? sentMs }),
  },
  {
    name: `${claimant} follows`,
    advanceMs: 0,
    outcome: status(claimant, false),
    after: (model, { stands }) => ({ ...model, claimedMs: null, isMarked: model.isMarked && !stands }),
  },
  thirdNames(leader),
  thirdNames(claimant),
  thirdNames(null),
  {
    name: `${third} gives no view`,
    advanceMs: 0,
    outcome: (sentMs) => viewFailureOutcome(third, sentMs),
    after: same,
  },
  { name: "an interval passes", advanceMs: exploredPolicy.intervalMs, outcome: null, after: same },
];

/** A linearizable read of the leader key, as the watch reports it. */
export function dcsNames(leads: NodeName): (sentMs: number) => ProbeOutcome {
  const read = { leader: leads, source: "etcd", revision: 1, hasScope: true };
  return (sentAtMs) => ({ kind: "dcs", cluster: "demo", sentAtMs, result: { read } });
}

const failure = { kind: "timeout", detail: "an injected timeout" } as const;

/** The same with a watched DCS. */
export const watchedEvents: readonly Event[] = [
  ...refusedEvents,
  ...([leader, claimant] as const).map((names): Event => ({
    name: `the DCS names ${names}`,
    advanceMs: 0,
    outcome: dcsNames(names),
    after: (model) => ({ ...model, dcs: names, isMarked: model.isMarked && names !== claimant }),
  })),
  {
    name: "the DCS cannot be read",
    advanceMs: 0,
    outcome: (sentAtMs) => ({ kind: "dcs", cluster: "demo", sentAtMs, result: { failure } }),
    after: (model) => ({ ...model, dcs: null }),
  },
];
