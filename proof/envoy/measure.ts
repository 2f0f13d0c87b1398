/** What the clients of one balancer have seen of a change of the primary. Pure. */
import type { Held, Opened } from "../../test/real/lab/database-clients.ts";

/** What is known of a change. Instants are of the monotonic clock, in ms. */
export interface Change {
  /** The ports of the old primary and the new one. */
  readonly oldServer: number;
  readonly newServer: number;
  readonly beganMs: number;
  /** When the new primary left recovery. */
  readonly promotedMs: number;
  /** The last instant at which rolecall let the sessions of the old primary live; `null`: it never refused them. */
  readonly verdictMs: number | null;
  /** When the observation ended. */
  readonly untilMs: number;
}

export interface Measured {
  /** From the promotion to the first write on a new connection to the new primary; `null`: there was none. */
  readonly firstWriteMs: number | null;
  /** From the promotion to the begin of that connection: what the database needs for it is not counted. */
  readonly routedMs: number | null;
  /** Sessions of the old primary that were open when the change began. */
  readonly sessions: number;
  /**
   * From rolecall's decision against them to the end of the last of those that ended, negative if they ended before;
   * `null`: none did, or there was no decision.
   */
  readonly cutMs: number | null;
  /** Those that were open at the end of the observation. */
  readonly left: number;
  /** Writes that the old primary acknowledged after the decision. */
  readonly lateWrites: number;
  /** New connections that reached the old primary although one had reached the new primary before it began. */
  readonly wentBack: number;
  /** New connections without an answer. */
  readonly refused: number;
}

export function measure(
  { opened, held }: { readonly opened: readonly Opened[]; readonly held: readonly Held[] },
  { oldServer, newServer, beganMs, promotedMs, verdictMs, untilMs }: Change,
): Measured {
  const onNew = opened.filter(({ server }) => server === newServer);
  const firstMs = Math.min(...onNew.map(({ endedMs }) => endedMs));
  const routedMs = onNew.find(({ endedMs }) => endedMs === firstMs)?.startedMs ?? null;
  const onOld = opened.filter(({ server }) => server === oldServer);
  const ofOld = held.filter(({ server }) => server === oldServer);
  const open = ofOld.filter(({ openedMs, endedMs }) => openedMs <= beganMs && (endedMs ?? Infinity) > beganMs);
  const ends = open.flatMap(({ endedMs }) => (endedMs === null || endedMs > untilMs ? [] : [endedMs]));
  const isLate = (atMs: number): boolean => verdictMs !== null && atMs > verdictMs && atMs <= untilMs;
  const answersMs = [...ofOld.flatMap((session) => session.answersMs), ...onOld.map(({ endedMs }) => endedMs)];
  return {
    firstWriteMs: firstMs === Infinity ? null : firstMs - promotedMs,
    routedMs: routedMs === null ? null : routedMs - promotedMs,
    sessions: open.length,
    cutMs: ends.length === 0 || verdictMs === null ? null : Math.max(...ends) - verdictMs,
    left: open.length - ends.length,
    lateWrites: answersMs.filter(isLate).length,
    wentBack: onOld.filter(({ startedMs }) => startedMs > firstMs).length,
    refused: opened.filter(({ server }) => server === null).length,
  };
}
