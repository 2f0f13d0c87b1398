import type { Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import { tell } from "../oracle/scene.ts";
import type { ModelCluster } from "./model-cluster.ts";

/** An episode's identity, and the command that repeats it. */
export interface Place {
  readonly label: string;
  readonly command: string;
  readonly faults: readonly string[];
}

/** Counts of all episodes of a run. */
export class Tally {
  episodes = 0;
  answers = 0;
  /** Clusters abandoned because rolecall followed a clone permanently. */
  movedClusters = 0;
  /** How often each promise applied. */
  readonly armed = new Map<string, number>();
  readonly recoveredMs: number[] = [];
  /** How many episodes broke each rule, and where. */
  readonly broken = new Map<string, string[]>();
}

/** Records the events of one episode. Reports each violation once, with all the context needed to understand it. */
export class Report {
  readonly #events: string[] = [];
  readonly #last = new Map<string, string>();
  readonly #reported = new Map<string, { readonly firstMs: number; lastMs: number; count: number }>();

  readonly #place: Place;
  readonly #startMs: number;
  readonly #tally: Tally;
  readonly #write: (text: string) => void;

  constructor(place: Place, startMs: number, tally: Tally, write: (text: string) => void) {
    this.#place = place;
    this.#startMs = startMs;
    this.#tally = tally;
    this.#write = write;
  }

  /** Notes an event of the truth. */
  event(nowMs: number, text: string): void {
    this.#events.push(`${this.#at(nowMs)} ${text}`);
  }

  /** Notes what has changed in the answers. */
  answers(nowMs: number, answers: readonly Said[]): void {
    this.#tally.answers += answers.length;
    for (const { node, check, method, status, phrase } of answers) {
      if (method === "HEAD") continue;
      const key = `${node ?? "whole cluster"} ${check}`;
      const now = `${status} ${phrase.split(" ")[0]}`;
      const before = this.#last.get(key);
      if (before !== now) this.event(nowMs, `answers: ${key}: ${before ?? "-"} -> ${status} ${phrase}`);
      this.#last.set(key, now);
    }
  }

  recovered(ms: number): void {
    this.#tally.recoveredMs.push(ms);
  }

  /** Reports a violation the first time; counts it afterwards. */
  violation(nowMs: number, violation: Violation, cluster: ModelCluster): void {
    const key = `${violation.rule} ${violation.node ?? ""}`;
    const reported = this.#reported.get(key);
    if (reported !== undefined) {
      reported.count += 1;
      reported.lastMs = nowMs;
      return;
    }
    this.#reported.set(key, { firstMs: nowMs, lastMs: nowMs, count: 1 });
    const where = this.#tally.broken.get(violation.rule) ?? [];
    if (!where.includes(this.#place.label)) where.push(this.#place.label);
    this.#tally.broken.set(violation.rule, where);
    const last = cluster.world.nodes.flatMap(({ name }) =>
      (["status", "cluster"] as const).map((kind) => {
        const newest = cluster.evidence.newestSure(name, kind, nowMs);
        return `  ${name}: ${tell(newest, { askedMs: nowMs } as Said)}`;
      }),
    );
    const isStalled = cluster.scene.stalls.within(nowMs - 3_000, nowMs);
    this.#write(
      [
        `VIOLATION ${violation.rule} ${violation.node ?? ""} in ${this.#place.label} at ${this.#at(nowMs)}`,
        `  ${violation.detail}`,
        ` faults:`,
        ...this.#place.faults.map((fault) => `  ${fault}`),
        ` last events:`,
        ...this.#events.slice(-30).map((event) => `  ${event}`),
        ` truth: ${cluster.truth(nowMs).join("\n ")}`,
        ` newest answers of the nodes:`,
        ...last,
        ` machine: stood still for ${Math.round(isStalled)} ms of the last 3 s`,
        ` repeat: ${this.#place.command}`,
        "",
      ].join("\n"),
    );
  }

  /** All events so far, for people. */
  trace(): string {
    return `${this.#place.label}\n${[...this.#place.faults.map((fault) => `  ${fault}`), ...this.#events].join("\n")}\n`;
  }

  /** Ends the episode: reports the duration of each violation. */
  end(): void {
    this.#tally.episodes += 1;
    for (const [key, { count, firstMs, lastMs }] of this.#reported) {
      this.#write(
        `${this.#place.label}: ${key.trim()}: ${count} times over ${((lastMs - firstMs) / 1_000).toFixed(2)} s\n`,
      );
    }
  }

  #at(nowMs: number): string {
    return `${((nowMs - this.#startMs) / 1_000).toFixed(2)} s`;
  }
}
