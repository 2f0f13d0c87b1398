import type { Said } from "../rolecall/asker.ts";
import type { Cluster } from "./cluster.ts";
import { begin, type Undo } from "./faults.ts";
import { heal } from "./heal.ts";
import type { Report } from "./report.ts";
import { Recovery } from "./recovery.ts";
import type { Rounds } from "./rounds.ts";
import { nameOf } from "./fault-name.ts";
import type { Fault } from "./scenario.ts";

const tickMs = 20;

/** What an episode needs. */
export interface Stage {
  readonly cluster: Cluster;
  readonly rounds: Rounds;
  readonly report: Report;
  readonly now: () => number;
  /** Returns why the run must end, once it must: rolecall has died. */
  readonly isOver: () => boolean;
}

/** Runs faults, heals them, and waits until every sound node is fit again. */
export class Episode {
  readonly #undo = new Map<Fault, Undo>();
  #recovery: Recovery | null = null;
  #isDone = false;
  #latest: readonly Said[] = [];

  readonly #stage: Stage;
  readonly #faults: readonly Fault[];

  constructor(stage: Stage, faults: readonly Fault[]) {
    this.#stage = stage;
    this.#faults = faults;
  }

  /** Runs it to its end. */
  async run(): Promise<void> {
    await Promise.all([this.#move(), this.#ask()]);
  }

  async #move(): Promise<void> {
    const { cluster, report, now, isOver } = this.#stage;
    const startMs = now();
    const end = Math.max(0, ...this.#faults.map(({ atMs, forMs }) => atMs + forMs));
    while (!this.#isDone && !isOver()) {
      const nowMs = now();
      const atMs = nowMs - startMs;
      for (const fault of this.#faults) {
        if (atMs >= fault.atMs && !this.#undo.has(fault) && this.#recovery === null) {
          report.event(nowMs, `begins: ${nameOf(fault)}`);
          this.#undo.set(fault, begin(cluster, fault, nowMs));
        }
        if (atMs >= fault.atMs + fault.forMs) this.#end(fault, nowMs);
      }
      if (this.#recovery === null && atMs >= Math.min(end, cluster.profile.faultsMs * 1.3)) {
        for (const fault of this.#faults) this.#end(fault, nowMs);
        heal(cluster);
        this.#recovery = new Recovery(cluster, this.#faults, nowMs);
        report.event(nowMs, "all healed");
      }
      await cluster.tick(nowMs);
      if (this.#recovery !== null) this.#recover(nowMs, this.#recovery);
      await new Promise((resolve) => void setTimeout(resolve, tickMs));
    }
  }

  #end(fault: Fault, nowMs: number): void {
    const undo = this.#undo.get(fault);
    if (undo === undefined || undo === ended) return;
    this.#undo.set(fault, ended);
    undo();
    this.#stage.report.event(nowMs, `ends: ${nameOf(fault)}`);
  }

  #recover(nowMs: number, recovery: Recovery): void {
    const { cluster, report } = this.#stage;
    const { isDone, recoveredMs, violations } = recovery.look(nowMs, this.#latest);
    if (recoveredMs !== null) report.recovered(recoveredMs);
    for (const violation of violations) report.violation(nowMs, violation, cluster);
    this.#isDone ||= isDone;
  }

  async #ask(): Promise<void> {
    const { cluster, rounds, report, now, isOver } = this.#stage;
    while (!this.#isDone && !isOver()) {
      const beganMs = now();
      try {
        const { answers, violations } = await rounds.next();
        this.#latest = answers;
        report.answers(beganMs, answers);
        for (const violation of violations) report.violation(beganMs, violation, cluster);
      } catch (error) {
        if (!isOver()) report.violation(beganMs, { rule: "answers", node: null, detail: String(error) }, cluster);
        await new Promise((resolve) => void setTimeout(resolve, 200));
      }
      await new Promise(
        (resolve) => void setTimeout(resolve, Math.max(5, cluster.profile.askEveryMs - (now() - beganMs))),
      );
    }
  }
}

const ended: Undo = () => undefined;
