/** What one client sent, and what became of it, against the rows that the primary has at the end. Pure. */

/** A transaction that was not acknowledged: it may have taken effect, or not. */
export interface Failure {
  readonly client: number;
  readonly seq: number;
  readonly error: string;
  /** When it was sent, of the monotonic clock, in ms. */
  readonly startedMs: number;
  /** From when it was sent until it failed, in ms. */
  readonly waitMs: number;
}

/** What a client knows of its transactions 1, 2, … `sent`: all are acknowledged but these. */
export interface ClientLedger {
  readonly client: number;
  readonly sent: number;
  readonly failed: ReadonlySet<number>;
}

/** How the rows of the primary differ from what the clients were told. */
export interface Audit {
  readonly acknowledged: number;
  /** Acknowledged, and not there. */
  readonly lost: readonly string[];
  /** There more than once, acknowledged or not. */
  readonly doubled: readonly string[];
  /** There, and never sent. */
  readonly foreign: readonly string[];
  /** Not acknowledged, and there: no error, as the answer may have been lost. */
  readonly unacknowledged: number;
}

/**
 * Compares one client's transactions with its rows.
 * @param rows the `seq` of every row of this client, in any order
 */
export function auditOf({ client, sent, failed }: ClientLedger, rows: readonly number[]): Audit {
  const counts = new Map<number, number>();
  for (const seq of rows) counts.set(seq, (counts.get(seq) ?? 0) + 1);
  const name = (seq: number): string => `client ${client}, transaction ${seq}`;
  const lost: string[] = [];
  let [acknowledged, unacknowledged] = [0, 0];
  for (let seq = 1; seq <= sent; seq += 1) {
    if (failed.has(seq)) unacknowledged += counts.has(seq) ? 1 : 0;
    else {
      acknowledged += 1;
      if (!counts.has(seq)) lost.push(name(seq));
    }
  }
  const isSent = (seq: number): boolean => Number.isInteger(seq) && seq >= 1 && seq <= sent;
  return {
    acknowledged,
    lost,
    doubled: [...counts].filter(([, count]) => count > 1).map(([seq]) => name(seq)),
    foreign: [...counts.keys()].filter((seq) => !isSent(seq)).map(name),
    unacknowledged,
  };
}

/** All clients together. */
export function sumOfAudits(audits: readonly Audit[]): Audit {
  return {
    acknowledged: audits.reduce((sum, one) => sum + one.acknowledged, 0),
    lost: audits.flatMap(({ lost }) => lost),
    doubled: audits.flatMap(({ doubled }) => doubled),
    foreign: audits.flatMap(({ foreign }) => foreign),
    unacknowledged: audits.reduce((sum, one) => sum + one.unacknowledged, 0),
  };
}
