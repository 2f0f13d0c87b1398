/** Readers through HAProxy's read port, each time on a new connection. */
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, type BalancerName, type NodeName } from "../machines/addresses.ts";
import type { Seen } from "../history.ts";
import type { HistoryRecorder } from "./recorder.ts";
import { nodeOf, nowMs, ownAddress, Session } from "./session.ts";

export interface ReaderOptions {
  readonly balancer: BalancerName;
  readonly table: string;
  readonly everyMs: number;
  readonly recorder: HistoryRecorder;
  readonly isOver: () => boolean;
}

export async function read({ balancer, table, everyMs, recorder, isOver }: ReaderOptions): Promise<void> {
  while (!isOver()) {
    const beganAtMs = nowMs();
    const session = new Session({ host: addressOf(balancer), port: 5001 });
    let found: { readonly node: NodeName | null; readonly seen: Seen } | null = null;
    try {
      await session.open();
      found = await seenBy(session, table);
    } catch {
      // It is recorded as failed.
    }
    session.close();
    recorder.add({
      type: "read",
      balancer,
      port: session.port,
      openedAtWallMs: session.openedAtWallMs,
      beganAtMs,
      endedAtMs: nowMs(),
      node: found?.node ?? null,
      seen: found?.seen ?? null,
    });
    await sleep(Math.max(20, beganAtMs + everyMs - nowMs()));
  }
}

/** What a session sees of a table: one statement, so one state of the database. */
export async function seenBy(
  session: Session,
  table: string,
): Promise<{ readonly node: NodeName | null; readonly seen: Seen }> {
  const greatest = `select writer, max(seq) as seq from ${table} group by writer`;
  const statement = `select ${ownAddress}, (select json_object_agg(writer, seq) from (${greatest}) as t) as seen`;
  const [row] = await session.ask<{ readonly address: string; readonly seen: Seen | null }>(statement);
  return { node: nodeOf(row), seen: row?.seen ?? {} };
}
