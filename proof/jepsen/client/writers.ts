/**
 * Writers of unique values. Through HAProxy: on a new connection each time, or on one that is kept open. Straight to
 * one node: the control group, which shows when a node accepted writes that nobody should have sent there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, type BalancerName, balancerNames, type NodeName } from "../machines/addresses.ts";
import type { WriteEvent } from "../history.ts";
import type { HistoryRecorder } from "./recorder.ts";
import { isRefusal, nodeOf, nowMs, ownAddress, Session } from "./session.ts";

export interface WriterOptions {
  readonly writer: string;
  readonly to: BalancerName | NodeName;
  readonly table: string;
  readonly everyMs: number;
  /** Whether it keeps its connection as long as it works. */
  readonly isKept: boolean;
  readonly recorder: HistoryRecorder;
  readonly isOver: () => boolean;
}

/** Writes until it is over. */
export async function write(options: WriterOptions): Promise<void> {
  let session: Session | undefined;
  for (let seq = 1; !options.isOver(); seq += 1) {
    const began = nowMs();
    const isNewSession = session === undefined;
    session ??= new Session({ host: addressOf(options.to), port: isBalancer(options.to) ? 5000 : 5432 });
    options.recorder.add(await writeOne(session, { seq, isNewSession }, options));
    if (session.isBroken || !options.isKept) {
      session.close();
      session = undefined;
    }
    await sleep(Math.max(20, began + options.everyMs - nowMs()));
  }
  session?.close();
}

async function writeOne(
  session: Session,
  { seq, isNewSession }: { readonly seq: number; readonly isNewSession: boolean },
  { writer, to, table, isKept }: WriterOptions,
): Promise<WriteEvent> {
  let beganAtMs: number | null = null;
  let outcome: WriteEvent["outcome"] = "refused";
  let node: WriteEvent["node"] = null;
  try {
    if (isNewSession) await session.open();
    beganAtMs = nowMs();
    const insert = `insert into ${table} (writer, seq) values ($1, $2) returning ${ownAddress}`;
    const [row] = await session.ask<{ readonly address: string }>(insert, [writer, seq]);
    node = nodeOf(row);
    outcome = "acknowledged";
  } catch (error) {
    if (beganAtMs !== null && !isRefusal(error)) outcome = "unknown";
  }
  const endedAtMs = nowMs();
  return {
    type: "write",
    writer,
    seq,
    balancer: isBalancer(to) ? to : null,
    port: session.port,
    openedAtWallMs: session.openedAtWallMs,
    openedAtMs: session.openedAtMs,
    isNewSession: !isKept,
    beganAtMs: beganAtMs ?? endedAtMs,
    endedAtMs,
    outcome,
    node,
  };
}

function isBalancer(name: BalancerName | NodeName): name is BalancerName {
  return balancerNames.some((balancer) => balancer === name);
}
