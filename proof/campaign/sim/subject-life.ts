import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "../../../src/app/machine/machine.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { Store } from "../../../src/core/state/store.ts";
import { withOwnClock } from "./machine.ts";
import { Subject, type SubjectOptions } from "./subject.ts";

/** What a rolecall that can be restarted is made of. */
export interface LifeOptions extends Omit<SubjectOptions, "config"> {
  readonly config: (stateFile: string | null) => Config;
  /** Whether it will be restarted, so that it needs a state file. */
  readonly isRestarted: boolean;
  readonly onChange: Parameters<Store["onChange"]>[0];
  /** It is asked only once it has its first evidence, as clients of its health listeners do, and this has resolved. */
  readonly waits: (() => Promise<void>) | null;
}

/**
 * The rolecall of a run, over its restarts. Its state file is a real file: virtual time stands still while it is read
 * or written, so the content depends on the run alone.
 */
export class SubjectLife {
  readonly #options: LifeOptions;
  readonly #folder: string | null;
  #subject: Subject;
  #count = 0;
  #end: () => void = () => {};
  #hasBegun = false;
  #isStopped = false;
  #downUntilMs: number | null = null;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#folder = options.isRestarted ? mkdtempSync(join(tmpdir(), "rolecall-simulated-")) : null;
    this.#subject = this.#build();
  }

  get subject(): Subject {
    return this.#subject;
  }

  /** Whether it answers nothing: it has not begun, or is stopped, or will be with the next turn. */
  get isDown(): boolean {
    return !this.#hasBegun || this.#downUntilMs !== null;
  }

  /** Starts as the program does. Resolves after the first round of probes. */
  async begin(): Promise<void> {
    const { waits } = this.#options;
    this.#hasBegun = waits === null;
    await this.#subject.begin();
    await waits?.();
    this.#hasBegun = true;
  }

  /** Reads what it has saved. To be called while virtual time stands still. */
  async restore(): Promise<void> {
    await this.#subject.restore();
  }

  /** Lets it stop with the next turn, until an instant. */
  stopUntil(atMs: number): void {
    if (this.#folder !== null) this.#downUntilMs ??= atMs;
  }

  /** Stops or starts it where that is due. To be called while virtual time stands still. */
  async turn(nowMs: number): Promise<"stopped" | "started" | null> {
    if (this.#downUntilMs === null) return null;
    if (!this.#isStopped) {
      this.#isStopped = true;
      this.#hasBegun = false;
      await this.#stop();
      return "stopped";
    }
    if (nowMs < this.#downUntilMs) return null;
    this.#isStopped = false;
    this.#downUntilMs = null;
    const before = this.#file(this.#count);
    this.#count += 1;
    const file = this.#file(this.#count);
    if (before !== null && file !== null && existsSync(before)) copyFileSync(before, file);
    this.#subject = this.#build();
    await this.restore();
    return "started";
  }

  /** Ends it; it is not started again. */
  async end(): Promise<void> {
    if (!this.#isStopped) await this.#stop();
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  async #stop(): Promise<void> {
    await this.#subject.stop();
    this.#end();
  }

  #build(): Subject {
    const { config, machine, hasWorker, cluster, pushed, onChange, bring = () => {} } = this.#options;
    const lifetime = { isOver: false };
    this.#end = () => {
      lifetime.isOver = true;
    };
    const subject = new Subject({
      config: config(this.#file(this.#count)),
      machine: this.#folder === null ? machine : mortal(machine, lifetime),
      hasWorker,
      cluster,
      pushed,
      bring,
    });
    subject.monitor.store.onChange(onChange);
    return subject;
  }

  /** Each life has a file of its own: what an old one still has in flight changes nothing. */
  #file(count: number): string | null {
    return this.#folder === null ? null : join(this.#folder, `state-${count}.json`);
  }
}

/** A machine as one process sees it: its timers end with it, and its clock begins with it. */
function mortal(machine: Machine, lifetime: { readonly isOver: boolean }): Machine {
  const setTimer: Machine["setTimer"] = (callback, delayMs) =>
    machine.setTimer(() => {
      if (!lifetime.isOver) callback();
    }, delayMs);
  return { ...withOwnClock(machine), setTimer };
}
