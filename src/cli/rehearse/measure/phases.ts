import { serverKey, type NodeRecording, type Recording, type WriteAttempt } from "./recording.ts";
import { firstChange, type SampleSegment } from "./track.ts";

/** The phases of an outage, in their usual order. */
export const phaseNames = ["demoted", "withdrawn", "promoted", "first_yes", "switched", "first_write"] as const;
export type PhaseName = (typeof phaseNames)[number];

/** When a phase began, as far as it was seen. */
export interface OutagePhase {
  readonly phase: PhaseName;
  /** The node that it is about, or `null` if it is not known. */
  readonly node: string | null;
  /** When it was seen, in ms after the request; `null` if it was not. */
  readonly afterRequestMs: number | null;
  /** It may have begun earlier than it was seen, by at most this time, in ms. */
  readonly resolutionMs: number | null;
  /** What it was seen by. */
  readonly source: "recovery" | "document" | "answer" | "write";
}

/** The time without writes. Instants are in ms of the recording's clock. */
export interface Outage {
  /** When the last write before it was acknowledged. */
  readonly lastWriteAtMs: number;
  /** When the first write after it was acknowledged. */
  readonly firstWriteAtMs: number;
  readonly outageMs: number;
}

/** The phases of a rehearsal, in the order in which they were seen; those that were not seen are last. */
export function phasesOf(recording: Recording): readonly OutagePhase[] {
  const next = (phase: OutagePhase): number => phase.afterRequestMs ?? Infinity;
  const phases = [demoted(recording), withdrawn(recording), promoted(recording), firstYes(recording)];
  return [...phases, ...writePhases(recording)].toSorted((one, other) => compare(next(one), next(other)));
}

/**
 * The outage: from the last write of the old primary to the first one of the new primary. If no other primary took
 * writes, the longest time between two writes.
 * @returns `null` if no write was acknowledged on one of its sides
 */
export function outageOf(recording: Recording): Outage | null {
  const first = firstNewWrite(recording);
  const old = oldServer(recording);
  if (first === null || old === null) return longestGap(recording);
  const before = recording.attempts.filter(
    ({ server, outcome, endedAtMs }) =>
      outcome === "acknowledged" && server !== null && serverKey(server) === old && endedAtMs < first.endedAtMs,
  );
  return outageBetween(Math.max(...before.map(({ endedAtMs }) => endedAtMs)), first.endedAtMs);
}

function longestGap({ attempts, requestedAtMs }: Recording): Outage | null {
  const instants = attempts
    .filter(({ outcome }) => outcome === "acknowledged")
    .map(({ endedAtMs }) => endedAtMs)
    .toSorted((one, other) => one - other);
  const gaps = instants.slice(1).map((atMs, at) => outageBetween(instants[at] ?? atMs, atMs));
  const later = gaps.filter(({ firstWriteAtMs }) => firstWriteAtMs >= requestedAtMs);
  return later.toSorted((one, other) => other.outageMs - one.outageMs)[0] ?? null;
}

function outageBetween(lastWriteAtMs: number, firstWriteAtMs: number): Outage {
  return { lastWriteAtMs, firstWriteAtMs, outageMs: firstWriteAtMs - lastWriteAtMs };
}

/** Writes that the old primary acknowledged although they began after another node was promoted. */
export function lateWrites(recording: Recording): readonly WriteAttempt[] {
  const at = promoted(recording);
  const old = oldServer(recording);
  if (at.afterRequestMs === null || at.source !== "recovery" || old === null) return [];
  const promotedAtMs = recording.requestedAtMs + at.afterRequestMs;
  return recording.attempts.filter(
    ({ server, outcome, startedAtMs }) =>
      outcome === "acknowledged" && server !== null && serverKey(server) === old && startedAtMs > promotedAtMs,
  );
}

function demoted(recording: Recording): OutagePhase {
  const { leader, requestedAtMs } = recording;
  const own = recording.nodes.find(({ node }) => node === leader);
  const recovery = own?.recovery ?? [];
  const byDatabase = recovery.length > 0;
  const change = byDatabase
    ? firstChange(recovery, requestedAtMs, (value) => value !== "primary")
    : firstChange(own?.documents ?? [], requestedAtMs, (value) => value !== "writable");
  return seen(recording, change, {
    phase: "demoted",
    node: leader,
    source: byDatabase ? "recovery" : "document",
  });
}

function withdrawn(recording: Recording): OutagePhase {
  const own = recording.nodes.find(({ node }) => node === recording.leader);
  const change = firstChange(own?.answers ?? [], recording.requestedAtMs, (value) => value !== "yes");
  return seen(recording, change, { phase: "withdrawn", node: recording.leader, source: "answer" });
}

function promoted(recording: Recording): OutagePhase {
  const byDatabase = earliest(recording, ({ recovery }) => recovery, "primary");
  // Without the new primary's own database, its document is the only evidence.
  const found = byDatabase ?? earliest(recording, ({ documents }) => documents, "writable");
  const source = byDatabase === null ? "document" : "recovery";
  return seen(recording, found?.change ?? null, { phase: "promoted", node: found?.node ?? null, source });
}

function firstYes(recording: Recording): OutagePhase {
  const found = earliest(recording, ({ answers }) => answers, "yes");
  return seen(recording, found?.change ?? null, { phase: "first_yes", node: found?.node ?? null, source: "answer" });
}

/** When the pool first reached the new primary, and when that took a write. */
function writePhases(recording: Recording): readonly OutagePhase[] {
  const { attempts, requestedAtMs, writeIntervalMs } = recording;
  const first = firstNewWrite(recording);
  const address = first?.server?.address ?? null;
  const reached = attempts.filter(
    ({ server, reachedAtMs }) =>
      first !== null &&
      server?.address === address &&
      reachedAtMs !== null &&
      reachedAtMs >= requestedAtMs &&
      serverKey(server) !== oldServer(recording),
  );
  const switchedAtMs = first === null ? null : Math.min(...reached.map(({ reachedAtMs }) => reachedAtMs ?? Infinity));
  const phase = (name: PhaseName, atMs: number | null): OutagePhase => ({
    phase: name,
    node: null,
    afterRequestMs: atMs === null ? null : atMs - requestedAtMs,
    resolutionMs: atMs === null ? null : writeIntervalMs,
    source: "write",
  });
  return [phase("switched", switchedAtMs), phase("first_write", first?.endedAtMs ?? null)];
}

/** The first write that another primary than the old one acknowledged. */
function firstNewWrite(recording: Recording): WriteAttempt | null {
  const old = oldServer(recording);
  const acknowledged = recording.attempts.filter(
    ({ outcome, server }) => outcome === "acknowledged" && server !== null && serverKey(server) !== old,
  );
  return acknowledged.toSorted((one, other) => one.endedAtMs - other.endedAtMs)[0] ?? null;
}

/** The server that took the last write before the request. */
function oldServer({ attempts, requestedAtMs }: Recording): string | null {
  const before = attempts.filter(
    ({ outcome, server, endedAtMs }) => outcome === "acknowledged" && server !== null && endedAtMs < requestedAtMs,
  );
  const server = before.at(-1)?.server;
  return server === undefined || server === null ? null : serverKey(server);
}

/**
 * The first change of any node to a value after the request. The old leader counts only after it lost the value: a
 * database that was killed may start again and lead again.
 */
function earliest<T extends string>(
  { nodes, leader, requestedAtMs }: Recording,
  segmentsOf: (node: NodeRecording) => readonly SampleSegment<T>[],
  wanted: T,
): { readonly node: string; readonly change: SampleSegment<T> } | null {
  const found = nodes.flatMap((node) => {
    const segments = segmentsOf(node);
    const loss = node.node === leader ? firstChange(segments, requestedAtMs, (value) => value !== wanted) : null;
    const sinceMs = node.node === leader ? (loss?.fromMs ?? Infinity) : requestedAtMs;
    const change = firstChange(segments, sinceMs, (value) => value === wanted);
    return change === null ? [] : [{ node: node.node, change }];
  });
  return found.toSorted((one, other) => one.change.fromMs - other.change.fromMs)[0] ?? null;
}

function seen<T>(
  { requestedAtMs }: Recording,
  change: SampleSegment<T> | null,
  about: Pick<OutagePhase, "phase" | "node" | "source">,
): OutagePhase {
  return {
    ...about,
    afterRequestMs: change === null ? null : change.fromMs - requestedAtMs,
    resolutionMs: change === null || change.afterMs === null ? null : change.fromMs - change.afterMs,
  };
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
