import type { Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import type { Trace } from "./trace.ts";
import type { VirtualCluster } from "./virtual-cluster.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** How many events are kept for the report of a violation. */
const eventsMax = 60;

/** A broken promise, and when. */
export interface TimedViolation extends Violation {
  readonly atMs: number;
}

/** What happened in a run: its events, the changes of the answers, and each broken promise once. */
export class RunLog {
  readonly violations: TimedViolation[] = [];
  /** The last events before the first violation, and the truth at that time. */
  story: readonly string[] = [];
  /** Called with each event. */
  onEvent: (text: string) => void = () => {};
  readonly #broken = new Set<string>();
  readonly #events: string[] = [];
  readonly #last = new Map<string, string>();
  readonly #cluster: VirtualCluster;
  readonly #time: VirtualTime;
  readonly #trace: Trace | null;

  constructor(cluster: VirtualCluster, time: VirtualTime, trace: Trace | null) {
    this.#cluster = cluster;
    this.#time = time;
    this.#trace = trace;
  }

  /** Notes an answer, where it differs from the last one to the same question. */
  answer({ node, check, method, path, status, phrase }: Said): void {
    if (method === "HEAD") return;
    const before = this.#last.get(path);
    if (before === phrase) return;
    this.#last.set(path, phrase);
    if (reasonOf(before) !== reasonOf(phrase) || this.#trace !== null)
      this.event(`answers: ${node ?? "whole cluster"} ${check}: ${status} ${phrase}`);
  }

  event(text: string): void {
    const { nowMs } = this.#time;
    this.#trace?.add(nowMs, text);
    this.onEvent(text);
    this.#events.push(`${(nowMs / 1_000).toFixed(2)} s ${text}`);
    if (this.#events.length > 2 * eventsMax) this.#events.splice(0, eventsMax);
  }

  /** Notes a broken promise; of each rule and node the first time. */
  violation(violation: Violation): void {
    const key = `${violation.rule} ${violation.node ?? ""}`;
    if (this.#broken.has(key)) return;
    this.#broken.add(key);
    const { nowMs } = this.#time;
    this.violations.push({ ...violation, atMs: nowMs });
    this.event(`VIOLATION ${key}: ${violation.detail}`);
    if (this.story.length > 0) return;
    this.story = [...this.#events.slice(-eventsMax), "truth:", ...this.#cluster.truth(nowMs)];
  }
}

function reasonOf(phrase: string | undefined): string | undefined {
  return phrase?.split(" ")[0];
}
