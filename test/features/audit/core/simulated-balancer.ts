import type { ServerReading } from "../../../../src/core/balancing/audited/reading.ts";
import { serverOf } from "./audit-play.ts";

/** What a balancer does not do from an instant on: it keeps the sessions of pg1, or goes on to send new ones to pg2. */
export interface BalancerFault {
  readonly kind: "keeps" | "sends";
  readonly atMs: number;
}

/** How a cluster is used, and what balances it. */
export interface SimulatedLife {
  readonly seed: number;
  readonly sessionsPerS: number;
  readonly sessionMs: number;
  readonly changeMs: number;
  readonly balance: "roundrobin" | "leastconn" | "random";
  readonly kind: "primary" | "replicas";
  readonly delayMs: number;
  readonly weights: readonly number[];
}

interface SimulatedServer {
  readonly node: string;
  readonly weight: number;
  may: string;
  takes: boolean;
  /** When the balancer follows the verdict on new sessions, and on open ones, in ms. */
  followsMs: number;
  cutsMs: number;
  /** When each open session ends, in ms. */
  ends: number[];
  total: number;
  turn: number;
}

/** How many sessions of a server are kept apart. */
const openMax = 400;
/** The longest step of virtual time, in ms. */
const stepMs = 250;

/** Three nodes and one balancer on virtual time. */
export class SimulatedBalancer {
  readonly #life: SimulatedLife;
  readonly #fault: BalancerFault | null;
  readonly #servers: readonly SimulatedServer[];
  #random: number;
  #nowMs = 0;
  #changeMs: number;
  #due = 0;
  #isPlanted = false;

  constructor(life: SimulatedLife, fault: BalancerFault | null) {
    this.#life = life;
    this.#fault = fault;
    this.#random = life.seed;
    const first = life.kind === "primary" ? ["new", "kept", "kept"] : ["kept", "new", "new"];
    this.#servers = ["pg1", "pg2", "pg3"].map((node, at) => ({
      node,
      weight: life.weights[at] ?? 100,
      may: first[at] ?? "kept",
      takes: first[at] === "new",
      followsMs: 0,
      cutsMs: Infinity,
      ends: [],
      total: 0,
      turn: 0,
    }));
    this.#changeMs = this.#chance() * 2 * life.changeMs;
  }

  get nodes(): readonly string[] {
    return this.#servers.map(({ node }) => node);
  }

  get verdicts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#servers.map(({ node, may }) => [node, may]));
  }

  get servers(): readonly ServerReading[] {
    return this.#servers.map(({ node, weight, takes, ends, total }) =>
      serverOf(node, {
        weight,
        sessions: ends.length,
        total,
        use: takes ? "takes" : "down",
        delayMs: balancerDelayMs(this.#life),
      }),
    );
  }

  /** Lives up to an instant. @returns the verdicts that changed meanwhile */
  advance(untilMs: number): readonly { readonly atMs: number; readonly may: Readonly<Record<string, string>> }[] {
    const changes: { readonly atMs: number; readonly may: Readonly<Record<string, string>> }[] = [];
    while (this.#nowMs < untilMs) {
      const plantedMs = this.#fault === null || this.#isPlanted ? Infinity : this.#fault.atMs;
      const follows = this.#servers
        .flatMap(({ followsMs, cutsMs }) => [followsMs, cutsMs])
        .filter((atMs) => atMs > this.#nowMs);
      const next = Math.min(untilMs, this.#nowMs + stepMs, this.#changeMs, plantedMs, ...follows);
      this.#connect(next - this.#nowMs);
      this.#nowMs = next;
      if (next >= this.#changeMs || next >= plantedMs)
        changes.push({ atMs: next, may: this.#change(next >= plantedMs) });
      this.#follow();
    }
    return changes;
  }

  /** A switchover, or a replica that lags or catches up. */
  #change(isPlanted: boolean): Readonly<Record<string, string>> {
    this.#changeMs = this.#nowMs + 1 + this.#chance() * 2 * this.#life.changeMs;
    const chosen = Math.floor(this.#chance() * 3);
    for (const [at, server] of this.#servers.entries()) {
      const { may } = server;
      if (isPlanted && this.#fault?.kind === "keeps") server.may = ["none superseded", "new", "kept"][at] ?? "kept";
      else if (isPlanted) server.may = ["kept", "kept lagging", "new"][at] ?? "kept";
      else if (this.#life.kind === "primary")
        server.may = at === chosen ? "new" : may === "new" ? "none demoted" : "kept";
      else if (at === chosen && at > 0) server.may = may === "new" ? this.#no() : "new";
      const inMs = this.#nowMs + this.#chance() * this.#life.delayMs;
      if ((may === "new") !== (server.may === "new")) server.followsMs = inMs;
      if (!server.may.startsWith("none")) server.cutsMs = Infinity;
      else if (!may.startsWith("none")) server.cutsMs = Math.max(inMs, server.followsMs);
    }
    this.#isPlanted ||= isPlanted;
    return this.verdicts;
  }

  #no(): string {
    return this.#chance() < 0.5 ? "kept lagging" : "none detached";
  }

  #follow(): void {
    for (const server of this.#servers) {
      server.ends = server.ends.filter((endMs) => endMs > this.#nowMs);
      const isFaulty = this.#isPlanted && server.node === (this.#fault?.kind === "keeps" ? "pg1" : "pg2");
      if (isFaulty) continue;
      if (server.followsMs <= this.#nowMs) server.takes = server.may === "new";
      if (server.cutsMs <= this.#nowMs) server.ends = [];
    }
  }

  #connect(spanMs: number): void {
    this.#due += (spanMs / 1_000) * this.#life.sessionsPerS * 2 * this.#chance();
    for (; this.#due >= 1; this.#due -= 1) {
      const takers = this.#servers.filter(({ takes }) => takes);
      const chosen = this.#choose(takers);
      if (chosen === undefined) continue;
      chosen.total += 1;
      chosen.turn += 1 / chosen.weight;
      // A server that comes back does not make up for the time without sessions.
      chosen.turn = Math.max(chosen.turn, Math.max(...takers.map(({ turn }) => turn)) - 1 / chosen.weight);
      chosen.ends.push(this.#nowMs + this.#chance() * 2 * this.#life.sessionMs);
      if (chosen.ends.length > openMax) chosen.ends.shift();
    }
  }

  #choose(takers: readonly SimulatedServer[]): SimulatedServer | undefined {
    const { balance } = this.#life;
    if (balance === "roundrobin") return takers.toSorted((one, other) => one.turn - other.turn)[0];
    if (balance === "leastconn")
      return takers.toSorted((one, other) => loadOf(one) - loadOf(other) || one.turn - other.turn)[0];
    let at = this.#chance() * takers.reduce((sum, { weight }) => sum + weight, 0);
    return takers.find(({ weight }) => (at -= weight) < 0);
  }

  /** From 0 up to 1. */
  #chance(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#random / 2 ** 32;
  }
}

/** How long a balancer takes at most to follow a verdict, in ms. */
export function balancerDelayMs({ delayMs }: SimulatedLife): number {
  return delayMs + 1_000;
}

function loadOf({ ends, weight }: SimulatedServer): number {
  return ends.length / weight;
}
