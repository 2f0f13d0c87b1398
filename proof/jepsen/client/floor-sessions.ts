/**
 * Sessions that read their own writes and never read backwards: each keeps the newest position that it knows of, and
 * reads only from nodes that rolecall calls fit for `/replica?min_lsn=…`, as docs/checks.md describes it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../campaign/chance.ts";
import type { Seen } from "../history.ts";
import { addressOf, type EdgeName, memberOf, type NodeName, nodeNames } from "../machines/addresses.ts";
import type { HistoryRecorder } from "./recorder.ts";
import { seenBy } from "./readers.ts";
import { nowMs, Session } from "./session.ts";
import { statusOf } from "./status.ts";

export interface FloorOptions {
  readonly session: string;
  readonly edge: EdgeName;
  readonly table: string;
  readonly everyMs: number;
  readonly recorder: HistoryRecorder;
  readonly isOver: () => boolean;
  readonly seed: number;
}

/** What a session knows: a position, and what it has to see from there on. */
interface Known {
  readonly floor: string;
  readonly owed: Seen;
}

/** After so many refusals in a row a session starts anew: a failover may have lost what it knew. */
const patience = 60;

/** The timeline and the position of a primary, as docs/checks.md reads them. */
const primaryPosition =
  "select ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int || '@' || lsn as floor from pg_current_wal_lsn() as lsn";
/** The same of a replica: read after the data, so that it covers them. `null` while nothing is received. */
const replicaPosition =
  "select (select received_tli from pg_stat_wal_receiver where status = 'streaming')" +
  " || '@' || pg_last_wal_replay_lsn() as floor";

export async function readWithFloor(options: FloorOptions): Promise<void> {
  const chance = new Chance(options.seed);
  let known: Known | undefined;
  let refusals = 0;
  for (let seq = 1; !options.isOver(); seq += 1) {
    const began = nowMs();
    if (seq % 4 === 1) known = (await writeAndLearn(options, seq, known)) ?? known;
    else if (known !== undefined) {
      const next = await readAndLearn(options, chance.pick(nodeNames), known);
      refusals = next === undefined ? refusals + 1 : 0;
      known = refusals > patience ? undefined : (next ?? known);
    }
    await sleep(Math.max(20, began + options.everyMs - nowMs()));
  }
}

/** Writes at the primary, through HAProxy. @returns undefined if that failed: what was known stays */
async function writeAndLearn(options: FloorOptions, seq: number, known: Known | undefined): Promise<Known | undefined> {
  const { session: writer, table, edge } = options;
  const session = new Session({ host: addressOf(edge === "r1" ? "b1" : "b2"), port: 5000 });
  try {
    await session.open();
    await session.ask(`insert into ${table} (writer, seq) values ($1, $2)`, [writer, seq]);
    // What it read before counts only if this primary has it: it may have been promoted without it.
    const { seen } = await seenBy(session, table);
    // After the read, so that it covers it.
    const [row] = await session.ask<{ readonly floor: string }>(primaryPosition);
    const isSame = Object.entries(known?.owed ?? {}).every(([name, newest]) => (seen[name] ?? 0) >= newest);
    return row === undefined
      ? undefined
      : { floor: row.floor, owed: { ...(isSame ? known?.owed : {}), [writer]: seq } };
  } catch {
    return undefined;
  } finally {
    session.close();
  }
}

/** Reads from a node if rolecall calls it fit. @returns undefined if it does not, or the read fails */
async function readAndLearn(options: FloorOptions, node: NodeName, known: Known): Promise<Known | undefined> {
  const { session: name, edge, table, recorder } = options;
  const beganAtMs = nowMs();
  const path = `/clusters/demo/nodes/${memberOf(node)}/replica?min_lsn=${known.floor}`;
  if ((await statusOf(edge, path)) !== 200) {
    recorder.add({ type: "floor-refused", session: name, atMs: beganAtMs });
    return undefined;
  }
  const session = new Session({ host: addressOf(node), port: 5432 });
  let seen: Seen | null = null;
  let row: { readonly floor: string | null; readonly up: number } | undefined;
  try {
    await session.open();
    ({ seen } = await seenBy(session, table));
    const age = "extract(epoch from clock_timestamp() - pg_postmaster_start_time())::float8 * 1000 as up";
    [row] = await session.ask<{ readonly floor: string | null; readonly up: number }>(`${replicaPosition}, ${age}`);
  } catch {
    // It is recorded as failed, or as a read without a position.
  }
  session.close();
  const { floor, owed } = known;
  const at = { beganAtMs, endedAtMs: nowMs() };
  recorder.add({ type: "floor-read", session: name, ...at, node, floor, owed, seen, upForMs: row?.up ?? null });
  if (seen === null) return undefined;
  return typeof row?.floor === "string" ? { floor: row.floor, owed: { ...owed, ...seen } } : known;
}
