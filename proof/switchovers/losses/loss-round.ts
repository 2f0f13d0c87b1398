/** One loss under load, and what it must fulfil. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../../test/fake/until.ts";
import { psql } from "../../../test/real/lab/psql.ts";
import type { Lab } from "../lab.ts";
import type { Acknowledged, Load } from "../load.ts";
import type { NodeNetwork } from "./node-network.ts";
import { type LossKind, prepareLoss } from "./loss-kinds.ts";
import { type LossMeasure, measureLoss, type NotKept, notKept, timelinesLeft } from "./loss-measure.ts";

export interface LossResult extends LossMeasure {
  readonly kind: LossKind;
  /** The node that was lost, and the one that led afterwards. */
  readonly leader: string;
  readonly after: string;
  /** Holds that began before the loss, since the one before, and since it. */
  readonly holdsBefore: number;
  readonly holds: number;
  readonly holdsEnded: number;
  /** From the loss until the first database was paused, in ms, by the clock of the log; `null`: none was. */
  readonly pausedAfterMs: number | null;
  /** Transactions that failed from the end of the loss until the cluster was whole again. */
  readonly failedLater: number;
  /** Rows that are gone because the old leader took the lock back ({@link NotKept}). */
  readonly lostByReturn: number;
  /** The longest that this process itself stood still: what it measures is late by up to that. */
  readonly stallMs: number;
  /** What does not hold; empty: all does. */
  readonly broken: readonly string[];
}

/** How long clients write before the loss, in ms: the guardian of the hold before is replaced after 2 s. */
const beforeMs = 5_000;

/**
 * Waits until the cluster is ready and the load has gone on for a while; then loses the leader, and waits until all
 * clients write again and every hold has ended.
 * @param lost gets the rows that the next primary need not have
 */
export async function playLoss(
  lab: Lab,
  load: Load,
  {
    kind,
    clients,
    seconds,
    lost,
    network,
  }: {
    readonly kind: LossKind;
    readonly clients: number;
    readonly seconds: number;
    readonly lost: Set<string>;
    readonly network: NodeNetwork | null;
  },
): Promise<LossResult> {
  const leader = await lab.settled(120);
  const logged = countEvents(lab.rolecall.log);
  load.mark();
  await sleep(beforeMs);
  const { holds: holdsBefore } = sinceOf(lab, logged);
  const before = countEvents(lab.rolecall.log);
  if (kind === "stopped processes") await leader.betweenRounds();
  const delays = monitorEventLoopDelay({ resolution: 5 });
  const loss = prepareLoss(kind, leader, network);
  delays.enable();
  const lostMs = loss.strike();
  const lostWallMs = Date.now() - (performance.now() - lostMs);
  const broken: string[] = [];
  const all = (): boolean => {
    const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > lostMs + 500);
    return new Set(later.map(({ client }) => client)).size === clients;
  };
  try {
    await until({ what: "transactions of all clients after the loss", seconds }, () => (all() ? true : undefined));
    await until({ what: "the end of every hold", seconds: 30 }, () => {
      const { holds, ended } = sinceOf(lab, before);
      return holds === ended ? true : undefined;
    });
  } catch (error) {
    broken.push(String(error));
  } finally {
    loss.heal();
  }
  delays.disable();
  const window = load.mark();
  // A machine that goes on where it stood still may leave a replica that Patroni does not mend by itself.
  await lab.cluster.whole(180);
  const now = await lab.settled(180);
  const measure = measureLoss(window, lostMs);
  // An old leader that comes back may take the lock back a moment after it: what was written until then may be gone, too.
  const later = load.mark();
  const { byReplication, byReturn } = await notKeptBy(now.databasePort, [
    ...window.acknowledged,
    ...later.acknowledged,
  ]);
  for (const row of [...byReplication, ...byReturn]) lost.add(row);
  if (byReturn.size > 0 && sinceOf(lab, logged).backs === 0)
    broken.push("the timeline went back, and rolecall does not say so");
  const { failed, inFlight, begun } = measure;
  if (failed > inFlight + begun)
    broken.push(
      `${failed} failed, more than the ${inFlight} in flight and the ${begun} that began in the 100 ms after`,
    );
  if (holdsBefore > 0) broken.push(`${holdsBefore} holds began without a loss`);
  const { holds, ended: holdsEnded } = sinceOf(lab, before);
  const stallMs = delays.max / 1e6;
  const pausedAfterMs = firstPause(lab.rolecall.log, lostWallMs);
  return {
    kind,
    leader: leader.name,
    after: now.name,
    ...measure,
    failedLater: later.failures.length,
    holdsBefore,
    holds,
    holdsEnded,
    pausedAfterMs,
    lostByReturn: byReturn.size,
    stallMs,
    broken,
  };
}

/** When the first database was paused after a loss, in ms after it. */
function firstPause(log: string, lostWallMs: number): number | null {
  const times = log.split("\n").flatMap((line) => {
    if (!line.includes('"step":"paused"')) return [];
    const { time } = JSON.parse(line) as { readonly time: string };
    return Date.parse(time) >= lostWallMs ? [Date.parse(time) - lostWallMs] : [];
  });
  return times.length === 0 ? null : Math.round(Math.min(...times));
}

interface Counted {
  readonly holds: number;
  readonly ended: number;
  /** Times that the timeline went back. */
  readonly backs: number;
}

function countEvents(log: string): Counted {
  const of = (event: string): number => count(log, `"${event}"`);
  return { holds: of("hold_began"), ended: of("hold_ended"), backs: of("timeline_back") };
}

function sinceOf(lab: Lab, { holds, ended, backs }: Counted): Counted {
  const now = countEvents(lab.rolecall.log);
  return { holds: now.holds - holds, ended: now.ended - ended, backs: now.backs - backs };
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** What a primary need not have of what was acknowledged. @throws Error if its timeline cannot be read */
async function notKeptBy(port: number, acknowledged: readonly Acknowledged[]): Promise<NotKept> {
  const name = await psql(port, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)");
  if (name === undefined) throw new Error("Cannot compare rows: the primary must tell its timeline, got no answer");
  const current = Number.parseInt(name, 16);
  const history = current === 1 ? "" : await psql(port, `SELECT pg_read_file('pg_wal/${name}.history')`);
  if (history === undefined) throw new Error(`Cannot compare rows: timeline ${current} must have a history, got none`);
  return notKept(acknowledged, current, timelinesLeft(history));
}
