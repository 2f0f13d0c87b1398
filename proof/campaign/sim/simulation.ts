import type { Violation } from "../oracle/scene.ts";
import { Stalls } from "../rolecall/stalls.ts";
import type { Said } from "../rolecall/asker.ts";
import { begin, type Undo } from "../run/faults.ts";
import { heal } from "../run/heal.ts";
import { Recovery } from "../run/recovery.ts";
import { nameOf } from "../run/fault-name.ts";
import type { OpenDcsSource } from "../../../src/core/dcs/dcs-source.ts";
import { dcsSources } from "../../../src/core/feature/offers.ts";
import { feedTransports } from "../../../src/features/follow/open-follow.ts";
import { pushedChecks } from "./agreement.ts";
import { AskTimes } from "./ask-times.ts";
import { Comparisons } from "./comparisons.ts";
import { configurationFor } from "./configuration.ts";
import { DcsPromise } from "./dcs-promise.ts";
import { LateHerePromise } from "./late-here-promise.ts";
import { virtualMachine } from "./machine.ts";
import { endMsOf, hasFault, type NumberedFault, type Plan } from "./plan.ts";
import { RunLog, type TimedViolation } from "./run-log.ts";
import { SubjectLife } from "./subject-life.ts";
import type { Trace } from "./trace.ts";
import { VirtualAsker } from "./virtual-asker.ts";
import { VirtualOwners } from "./virtual-owners.ts";
import { VirtualCluster } from "./virtual-cluster.ts";
import { VirtualRounds } from "./virtual-rounds.ts";
import { VirtualTime } from "./virtual-time.ts";

/** How long after the first of two instances that are followed the other one is heard at the latest, in virtual ms. */
const heardBothMs = 50;
/** How often the model moves, in virtual ms. */
const tickMs = 100;
/** How often the run looks whether an episode is over, in virtual ms. */
const sliceMs = 1_000;
/** How long rolecall gets to know a cluster before the first fault, in virtual ms. */
const warmUpMs = 12_000;
/** What a run has shown. */
export interface RunResult {
  readonly violations: readonly TimedViolation[];
  readonly simulatedMs: number;
  readonly answers: number;
  readonly recoveredMs: readonly number[];
  /** The last events before the first violation, and the truth at that time. */
  readonly story: readonly string[];
  readonly movedAway: boolean;
}

/** What a run counts into. */
export interface RunContext {
  readonly armed: Map<string, number>;
  readonly injected: Map<string, number>;
  readonly trace: Trace | null;
}

/** One run: a modelled cluster, a rolecall that watches it, faults, and the oracle. Everything is virtual. */
export class Simulation {
  readonly #plan: Plan;
  readonly #context: RunContext;
  readonly #time = new VirtualTime();
  readonly #stalls = new Stalls(() => this.#time.nowMs);
  readonly #cluster: VirtualCluster;
  readonly #life: SubjectLife;
  /** What the watched rolecall follows. */
  readonly #owner: VirtualOwners | null;
  readonly #asker: VirtualAsker;
  readonly #rounds: VirtualRounds;
  readonly #comparisons: Comparisons;
  #dcsPromise: DcsPromise;
  readonly #lateHere = new LateHerePromise();
  readonly #log: RunLog;
  readonly #recoveredMs: number[] = [];
  #faults: readonly NumberedFault[] = [];
  #faultsEndMs = 0;
  #undo = new Map<NumberedFault, Undo>();
  #episodeMs = 0;
  #recovery: Recovery | null = null;
  #isRecovered = true;
  #latest: readonly Said[] = [];
  readonly #asks: AskTimes;
  #failure: unknown = null;

  constructor(plan: Plan, context: RunContext) {
    this.#plan = plan;
    this.#context = context;
    const { profile, chance, hasDcs, hasWorker } = plan;
    const time = this.#time;
    const { armed, trace } = context;
    const cluster = new VirtualCluster(plan, { time, stalls: this.#stalls, armed, trace });
    this.#cluster = cluster;
    this.#log = new RunLog(cluster, time, trace);
    const machine = virtualMachine({ time, chance: chance.fork(6), network: cluster.network });
    const openDcs: OpenDcsSource = () => cluster.members.open();
    const owned = configurationFor(cluster, profile, { hasDcs, stateFile: null });
    this.#owner =
      plan.follows === null
        ? null
        : new VirtualOwners({
            config: owned,
            life: plan.follows,
            ttlMs: profile.ttlMs,
            machine,
            openDcs,
            time,
            chances: () => chance.fork(11),
            onMishap: (text) => this.#log.event(text),
          });
    const { openFeed } = this.#owner ?? {};
    this.#life = new SubjectLife({
      config: (stateFile) =>
        configurationFor(cluster, profile, { hasDcs, stateFile, follows: this.#owner?.urls ?? [] }),
      isRestarted: hasFault(plan, "restart"),
      machine,
      bring: (offers) => {
        dcsSources.bring(offers, openDcs);
        if (openFeed !== undefined) feedTransports.bring(offers, { open: openFeed });
      },
      hasWorker,
      waits:
        plan.follows === null
          ? null
          : plan.follows === "pair"
            ? () => new Promise((resolve) => void time.after("delivery", heardBothMs, () => resolve()))
            : () => Promise.resolve(),
      cluster: cluster.name,
      pushed: pushedChecks,
      onChange: (before, after) => this.#asks.stateChanged(before, after),
    });
    cluster.onRestart = (untilMs) => this.#life.stopUntil(untilMs);
    const life = this.#life;
    cluster.probedAt = (node) => life.subject.addressOf(node);
    this.#asker = new VirtualAsker(() => life.subject, time);
    this.#rounds = new VirtualRounds(cluster, this.#asker);
    const onViolation = (violation: Violation): void => this.#log.violation(violation);
    this.#comparisons = new Comparisons({ life, asker: this.#asker, time, cluster: cluster.name, armed, onViolation });
    this.#dcsPromise = new DcsPromise(cluster.scene);
    cluster.members.onRead = (leader, sentMs) => this.#dcsPromise.read(leader, time.nowMs, sentMs);
    this.#asks = new AskTimes({
      time,
      chance: chance.fork(10),
      everyMs: () => (this.#recovery === null || this.#isRecovered ? 1 : 0.5) * profile.askEveryMs,
      expiresMs: (node) => cluster.expiresMs(node),
      ask: (isSoon) => void this.#ask(isSoon),
    });
  }

  /** Runs to the end, or to the first violation and a little on. */
  async run(): Promise<RunResult> {
    const time = this.#time;
    for (const one of this.#plan.opening) this.#begin(one);
    this.#tick();
    await this.#life.restore();
    time.after("delivery", 0, () => {
      void this.#beginBoth();
      this.#asks.start(this.#plan.profile.maxAgeMs);
    });
    try {
      await time.run(warmUpMs);
      for (const faults of this.#plan.episodes) {
        await this.#episode(faults);
        if (this.#isOver()) break;
      }
      // What recovered must stay right.
      while (time.nowMs < this.#plan.leastMs && !this.#isOver())
        await this.#advance(Math.min(this.#plan.leastMs, time.nowMs + sliceMs));
    } finally {
      await this.#life.end();
      await this.#owner?.stop();
    }
    return {
      violations: this.#log.violations,
      simulatedMs: time.nowMs,
      answers: this.#asker.asked,
      recoveredMs: this.#recoveredMs,
      story: this.#log.story,
      movedAway: this.#cluster.isMovedAway,
    };
  }

  async #episode(faults: readonly NumberedFault[]): Promise<void> {
    this.#faults = faults;
    this.#faultsEndMs = Math.min(endMsOf(faults), this.#plan.profile.faultsMs * 1.3);
    this.#undo = new Map();
    this.#recovery = null;
    this.#isRecovered = false;
    this.#owner?.calm(false);
    this.#episodeMs = this.#time.nowMs;
    while (!this.#isRecovered && this.#log.violations.length === 0) await this.#advance(this.#time.nowMs + sliceMs);
  }

  /**
   * Lets time pass, then stops or starts rolecall if that is due. What the one before heard is unknown to the next one,
   * beside what it saved.
   */
  async #advance(untilMs: number): Promise<void> {
    await this.#time.run(untilMs);
    if (this.#failure !== null) throw this.#failure;
    const { nowMs } = this.#time;
    const turn = await this.#life.turn(nowMs);
    if (turn === null) return;
    this.#log.event(`rolecall ${turn}`);
    this.#lateHere.stopped();
    this.#latest = [];
    if (turn === "stopped") return;
    // What it follows has heard the nodes before, unless that has died or was restarted too.
    if (this.#owner?.remembers() !== true) this.#cluster.restarted(nowMs);
    this.#dcsPromise = new DcsPromise(this.#cluster.scene);
    this.#time.after("delivery", 0, () => this.#beginLife());
    this.#asks.soon();
  }

  async #beginBoth(): Promise<void> {
    try {
      await this.#owner?.begin();
      this.#beginLife();
    } catch (error) {
      this.#failure = error;
    }
  }

  #beginLife(): void {
    this.#life.begin().catch((error: unknown) => (this.#failure = error));
  }

  #isOver(): boolean {
    return this.#log.violations.length > 0 || this.#cluster.isMovedAway;
  }

  #tick(): void {
    const nowMs = this.#time.nowMs;
    if (!this.#isRecovered) this.#moveFaults(nowMs);
    this.#cluster.tick(nowMs);
    this.#asks.truthChanged(this.#cluster.troubles.changedMs);
    if (this.#life.isDown) this.#cluster.troubles.noteDown(nowMs);
    const { dcs, nodes } = this.#cluster.world;
    if (dcs.isPaused || nodes.some(({ isFailsafe }) => isFailsafe)) this.#dcsPromise.permit(nowMs);
    if (dcs.isDown || this.#cluster.members.isDisturbed) this.#dcsPromise.disturb(nowMs);
    if (this.#recovery !== null && !this.#isRecovered) this.#recover(nowMs, this.#recovery);
    this.#time.after("world", tickMs, () => this.#tick());
  }

  #moveFaults(nowMs: number): void {
    if (this.#recovery !== null) return;
    const atMs = nowMs - this.#episodeMs;
    for (const one of this.#faults) {
      if (atMs >= one.fault.atMs && !this.#undo.has(one)) this.#begin(one);
      if (atMs >= one.fault.atMs + one.fault.forMs) this.#end(one);
    }
    if (atMs < this.#faultsEndMs || this.#life.isDown) return;
    for (const one of [...this.#plan.opening, ...this.#faults]) this.#end(one);
    heal(this.#cluster);
    this.#owner?.calm(true);
    const faults = this.#faults.map(({ fault }) => fault);
    this.#recovery = new Recovery(this.#cluster, faults, nowMs);
    this.#log.event("all healed");
  }

  #begin(one: NumberedFault): void {
    const { kind } = one.fault;
    this.#context.injected.set(kind, (this.#context.injected.get(kind) ?? 0) + 1);
    this.#log.event(`begins: #${one.number} ${nameOf(one.fault)}`);
    const stopsRolecall = kind === "freeze" || kind === "suspend" || kind === "starve";
    if (stopsRolecall && this.#latest.length > 0) this.#askRound();
    const { nowMs } = this.#time;
    if (stopsRolecall && !this.#life.isDown && this.#owner === null)
      this.#lateHere.begins(this.#cluster.scene, this.#life.subject, { nowMs, forMs: one.fault.forMs });
    this.#undo.set(one, begin(this.#cluster, one.fault, this.#time.nowMs));
    if (stopsRolecall) this.#asks.afterFreeze();
  }

  #end(one: NumberedFault): void {
    const undo = this.#undo.get(one);
    if (undo === undefined || undo === ended) return;
    this.#undo.set(one, ended);
    undo();
    this.#log.event(`ends: #${one.number}`);
  }

  #recover(nowMs: number, recovery: Recovery): void {
    const { isDone, recoveredMs, violations } = recovery.look(nowMs, this.#latest);
    if (recoveredMs !== null) this.#recoveredMs.push(recoveredMs);
    for (const violation of violations) this.#log.violation(violation);
    this.#isRecovered ||= isDone;
  }

  #askRound(): readonly Said[] {
    const { answers, violations } = this.#rounds.next(this.#time.nowMs, this.#recovery !== null);
    const late = this.#dcsPromise.judge(answers, (node) => this.#cluster.isMoved(node));
    const wronged = this.#lateHere.judge(this.#cluster.scene, this.#life.subject, this.#time.nowMs);
    for (const violation of [...violations, ...late, ...wronged])
      if (this.#owner?.excuses(violation.rule) !== true) this.#log.violation(violation);
    for (const answer of answers) this.#log.answer(answer);
    return (this.#latest = answers);
  }

  async #ask(isSoon: boolean): Promise<void> {
    if (this.#life.isDown) return;
    try {
      await this.#comparisons.compare(this.#askRound(), isSoon);
    } catch (error) {
      this.#log.violation({ rule: "answers", node: null, detail: String(error) });
    }
  }
}

const ended: Undo = () => {};
