/** Some switchovers in a row, in both directions, in one lab under one load; then the audit of all rows. */
import { Lab, type LabOptions, type Route } from "./lab.ts";
import { faultsOf, playRound, type RoundResult } from "./round.ts";

export interface SeriesOptions extends LabOptions {
  /** As the report names it. */
  readonly version: string;
  readonly rounds: number;
  /** Transactions that are acknowledged before each switchover. */
  readonly transactions: number;
  /** No switchover begins after this instant of the monotonic clock, in ms. */
  readonly untilMs: number;
  readonly onRound?: (round: RoundResult, faults: readonly string[]) => void;
}

export interface SeriesResult {
  readonly patroni: string;
  readonly route: Route;
  readonly rounds: readonly RoundResult[];
  /** All transactions, those between the switchovers among them. */
  readonly acknowledged: number;
  readonly failed: number;
  /** Acknowledged rows that are lost, and rows that are there twice or that nobody wrote. */
  readonly wrongRows: number;
  /** What is wrong; empty: nothing. */
  readonly faults: readonly string[];
}

/**
 * Plays the rounds and audits the rows.
 * @throws Error if the lab does not start
 */
export async function playSeries(options: SeriesOptions): Promise<SeriesResult> {
  const { version: patroni, route, onRound = () => {} } = options;
  const lab = await Lab.start(options);
  try {
    const load = lab.load();
    const rounds: RoundResult[] = [];
    const faults: string[] = [];
    try {
      const [one, other] = await pairOf(lab);
      while (rounds.length < options.rounds && performance.now() < options.untilMs) {
        const candidate = (await lab.cluster.leader()) === one ? other : one;
        const round = await playRound(lab, load, candidate, options);
        const found = faultsOf(round, route);
        rounds.push(round);
        faults.push(...found);
        onRound(round, found);
      }
    } catch (error) {
      faults.push(`${error instanceof Error ? error.message : String(error)}\n${lab.rolecall.tail}`);
    } finally {
      await load.stop();
    }
    const audit = await load.audit((await lab.cluster.leader()).databasePort);
    const wrong = [
      ...audit.lost.map((row) => `lost: ${row}`),
      ...audit.doubled.map((row) => `twice: ${row}`),
      ...audit.foreign.map((row) => `never sent: ${row}`),
    ];
    const { acknowledged } = audit;
    const result = { patroni, route, rounds, acknowledged, failed: load.failed, wrongRows: wrong.length };
    return { ...result, faults: [...faults, ...wrong] };
  } finally {
    await lab.stop();
  }
}

/** The leader and one replica: switchovers go back and forth between them. */
async function pairOf({ cluster }: Lab): Promise<readonly [LeaderOrReplica, LeaderOrReplica]> {
  const leader = await cluster.leader();
  const [replica] = await cluster.replicas();
  if (replica === undefined) throw new Error("Cannot switch over: the cluster must have a replica, got none");
  return [leader, replica];
}

type LeaderOrReplica = Lab["cluster"]["nodes"][number];
