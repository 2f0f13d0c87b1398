/** One change of the primary of a real cluster, as the clients of each balancer see it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../test/fake/until.ts";
import { DatabaseClients } from "../../test/real/lab/database-clients.ts";
import { freeze } from "../../test/real/lab/freeze.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import { type PushedLab, writeStatement } from "../../test/real/lab/pushed-lab.ts";
import type { Rolecall } from "../../test/real/lab/rolecall.ts";
import { PromotionObserver } from "../switchovers/observer.ts";
import { measure, type Measured } from "./measure.ts";

/** `alive`: Patroni stands still and loses the lock; the PostgreSQL of the old primary goes on and takes writes. */
export const changeKinds = ["switchover", "kill", "alive"] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface ChangeResult {
  readonly kind: ChangeKind;
  readonly clients: number;
  /** Why rolecall decided against the sessions of the old primary; `null`: it never did. */
  readonly reason: string | null;
  /** From the promotion to rolecall's yes for the new primary. */
  readonly yesMs: number;
  /** The longest that this process itself stood still: what it measures is late by up to that. */
  readonly stallMs: number;
  readonly balancers: readonly (Measured & { readonly title: string })[];
}

/** How long the old primary is observed after the new one took writes through every balancer. */
const afterwardsMs = 2_000;

/**
 * Makes one change, with clients that hold sessions and clients that open new ones on every balancer.
 * @param clients how many of each
 * @throws Error if the cluster does not become whole before it, or no new primary takes writes
 */
export async function playChange(lab: PushedLab, kind: ChangeKind, clients: number): Promise<ChangeResult> {
  // A change every half minute would use up the time that rolecall may probe more often (60 s in 10 minutes).
  await lab.rolecall().stop();
  await lab.startRolecall();
  const old = await lab.settled();
  const pauses = { pauseMs: 50 * clients, retryMs: 5 * clients };
  const loads = lab.balancers.map(({ title, writePort: port }) => ({
    title,
    load: new DatabaseClients({ port, statement: writeStatement, holders: clients, openers: clients, ...pauses }),
  }));
  const delays = monitorEventLoopDelay({ resolution: 5 });
  let undo: () => void = () => {};
  const observers = new Map<PatroniNode, PromotionObserver>();
  try {
    await until("sessions through every balancer", () => loads.every(({ load }) => load.open.length === clients));
    delays.enable();
    for (const node of lab.cluster.nodes)
      if (node !== old) observers.set(node, new PromotionObserver(node.databasePort));
    const sessions = new SessionsObserver(lab.rolecall(), old.name);
    const beganMs = performance.now();
    undo = await begin(lab, kind, old);
    const reached = await newServer(
      loads.map(({ load }) => load),
      old,
    );
    await sleep(afterwardsMs);
    const untilMs = performance.now();
    const { yesMs: verdictMs, reason } = await sessions.stop();
    const promoted = [...observers].find(([{ databasePort }]) => databasePort === reached);
    if (promoted === undefined) throw new Error(`Cannot name the new primary: a node must have port ${reached}`);
    const wallMs = Date.now() - performance.now();
    const promotedMs = ((await promoted[1].stop()) ?? Number.NaN) - wallMs;
    const yesMs = (await yesAt(lab.rolecall(), promoted[0].name)) - wallMs - promotedMs;
    const change = { oldServer: old.databasePort, newServer: reached, beganMs, promotedMs, verdictMs, untilMs };
    const balancers = loads.map(({ title, load }) => ({ title, ...measure(load, change) }));
    return { kind, clients, reason, yesMs, stallMs: delays.max / 1e6, balancers };
  } finally {
    delays.disable();
    undo();
    for (const observer of observers.values()) void observer.stop();
    await Promise.all(loads.map(({ load }) => load.stop()));
  }
}

/** @returns what ends the fault */
async function begin({ cluster }: PushedLab, kind: ChangeKind, old: PatroniNode): Promise<() => void> {
  if (kind === "switchover") {
    const [candidate] = await cluster.replicas();
    if (candidate === undefined) throw new Error("Cannot switch over: the cluster must have a replica, got none");
    await cluster.switchOver(candidate);
    return () => {};
  }
  if (kind === "kill") {
    await old.kill();
    return () => old.start();
  }
  await old.betweenRounds();
  return freeze(old.pid);
}

/** Waits until new connections through every balancer reach the same new primary. @returns its port */
async function newServer(loads: readonly DatabaseClients[], old: PatroniNode): Promise<number> {
  const reachedBy = ({ opened }: DatabaseClients): number | undefined =>
    opened.findLast(({ server }) => server !== null && server !== old.databasePort)?.server ?? undefined;
  return until({ what: "writes on a new primary through every balancer", seconds: 90 }, () => {
    const [first, ...others] = loads.map(reachedBy);
    return first !== undefined && others.every((other) => other === first) ? first : undefined;
  });
}

/** When rolecall last began to say yes to a primary, in ms since 1970. */
async function yesAt(rolecall: Rolecall, node: string): Promise<number> {
  const changes = await rolecall.verdicts(node);
  const since = changes.findLastIndex(({ after }) => after.primary !== "fit");
  return Date.parse(changes[since + 1]?.at ?? "");
}

const everyMs = 10;

/** When rolecall last let the sessions of a node live, and why it did not then; `null`: it always did. */
interface SessionsVerdict {
  readonly yesMs: number | null;
  readonly reason: string | null;
}

/** Asks rolecall whether the sessions of a primary may live, until it says no. */
class SessionsObserver {
  readonly #asking: Promise<SessionsVerdict>;
  #isStopped = false;

  constructor(rolecall: Rolecall, node: string) {
    this.#asking = this.#ask(rolecall, node);
  }

  stop(): Promise<SessionsVerdict> {
    this.#isStopped = true;
    return this.#asking;
  }

  async #ask(rolecall: Rolecall, node: string): Promise<SessionsVerdict> {
    let yesMs: number | null = null;
    while (!this.#isStopped) {
      const { status, reason, repliedAtMs } = await rolecall.ask(node, "/primary?for=sessions");
      if (status === 503) return { yesMs, reason };
      if (status === 200) yesMs = repliedAtMs;
      await sleep(everyMs);
    }
    return { yesMs: null, reason: null };
  }
}
