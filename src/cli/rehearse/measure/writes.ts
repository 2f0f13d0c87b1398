import { serverKey, type PoolServer, type WriteAttempt } from "./recording.ts";

/** The writes of a rehearsal, counted. */
export interface WriteTally {
  readonly acknowledged: number;
  readonly failed: number;
  /** Sent, without an answer that says whether they were committed. */
  readonly uncertain: number;
  /** Uncertain writes that are in the table; `null` if the table could not be read. */
  readonly uncertainPresent: number | null;
  /** Acknowledged, and not in the table afterwards; `null` if the table could not be read. */
  readonly lost: readonly number[] | null;
  /** Why writes were not acknowledged, the most frequent first. */
  readonly causes: readonly { readonly cause: string; readonly count: number }[];
  /** The servers that were reached, in order. */
  readonly servers: readonly ReachedServer[];
}

/** One server that writes reached through the pool, on one timeline. */
export interface ReachedServer extends Omit<PoolServer, "pid"> {
  readonly acknowledged: number;
  readonly notAcknowledged: number;
  /** The backend of the first and of the last connection: a pooler keeps them, a balancer does not. */
  readonly pids: readonly number[];
}

/** The most backends that are listed of a server. */
const pidsMax = 3;

/**
 * Counts the writes.
 * @param present the numbers of the writes that the table holds, or `null` if it could not be read
 */
export function tallyWrites(attempts: readonly WriteAttempt[], present: ReadonlySet<number> | null): WriteTally {
  const of = (outcome: WriteAttempt["outcome"]): readonly WriteAttempt[] =>
    attempts.filter((attempt) => attempt.outcome === outcome);
  const [acknowledged, uncertain] = [of("acknowledged"), of("uncertain")];
  return {
    acknowledged: acknowledged.length,
    failed: of("failed").length,
    uncertain: uncertain.length,
    uncertainPresent: present === null ? null : uncertain.filter(({ n }) => present.has(n)).length,
    lost: present === null ? null : acknowledged.filter(({ n }) => !present.has(n)).map(({ n }) => n),
    causes: causesOf(attempts),
    servers: serversOf(attempts),
  };
}

function causesOf(attempts: readonly WriteAttempt[]): WriteTally["causes"] {
  const counts = new Map<string, number>();
  for (const { cause } of attempts) if (cause !== null) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].map(([cause, count]) => ({ cause, count })).toSorted((one, other) => other.count - one.count);
}

function serversOf(attempts: readonly WriteAttempt[]): readonly ReachedServer[] {
  const groups = new Map<string, (WriteAttempt & { readonly server: PoolServer })[]>();
  for (const attempt of attempts) {
    const { server } = attempt;
    if (server === null) continue;
    const group = groups.get(serverKey(server)) ?? [];
    group.push({ ...attempt, server });
    groups.set(serverKey(server), group);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { pid: _, ...server } = first.server;
    const acknowledged = group.filter(({ outcome }) => outcome === "acknowledged").length;
    const pids = [...new Set(group.flatMap((attempt) => attempt.server.pid ?? []))].slice(0, pidsMax);
    return [{ ...server, acknowledged, notAcknowledged: group.length - acknowledged, pids }];
  });
}
