import { backoffMs } from "../../core/probe/schedule/backoff.ts";
import { areSameNodes, type FitNode } from "./fit-nodes.ts";

/** One run of the command. */
export interface RunningCommand {
  /** Whether it succeeded. Never rejects. */
  readonly succeeded: Promise<boolean>;
  /** Ends it, within a bounded time. @param signal the signal that it gets first */
  readonly end: (signal: NodeJS.Signals) => void;
}

/** What a run is for. */
export interface RunRequest {
  readonly nodes: readonly FitNode[];
  /** The nodes of the last run that succeeded; none before the first one. */
  readonly previous: readonly FitNode[];
  /** From 1. */
  readonly attempt: number;
}

/** What the runs depend on. */
export interface LatestRunContext {
  readonly start: (request: RunRequest) => RunningCommand;
  /** The first and the longest time between two attempts, in ms. */
  readonly retryMs: readonly [first: number, longest: number];
  /** Called before each wait for another attempt. */
  readonly onRetry: (delayMs: number) => void;
}

type Phase =
  | { readonly kind: "idle" | "stopped" }
  | { readonly kind: "running"; readonly command: RunningCommand }
  | { readonly kind: "waiting"; readonly timer: NodeJS.Timeout };

/**
 * Runs a command for the newest nodes: one run at a time. Nodes that are replaced while a run goes on are skipped. A
 * run that fails is repeated, with back-off, until one succeeds or the nodes change.
 */
export class LatestRun {
  readonly #context: LatestRunContext;
  #phase: Phase = { kind: "idle" };
  #wanted: readonly FitNode[] | null = null;
  /** What the last run left; `null` while that is not known, because it failed. */
  #inForce: readonly FitNode[] | null = null;
  #previous: readonly FitNode[] = [];
  #failures = 0;

  constructor(context: LatestRunContext) {
    this.#context = context;
  }

  /** Whether the last run was for the newest nodes and succeeded, or no run was needed yet. */
  get isSettled(): boolean {
    return this.#wanted === null || this.#isInForce(this.#wanted);
  }

  /** Runs the command for these nodes, at once or after the run that goes on. */
  offer(nodes: readonly FitNode[]): void {
    if (this.#wanted !== null && areSameNodes(this.#wanted, nodes)) return;
    this.#wanted = nodes;
    this.#failures = 0;
    if (this.#phase.kind === "waiting") {
      clearTimeout(this.#phase.timer);
      this.#phase = { kind: "idle" };
    }
    if (this.#phase.kind === "idle") this.#runIfNeeded();
  }

  /** Starts no further run. Ends the one that goes on, and waits for its end. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const before = this.#phase;
    this.#phase = { kind: "stopped" };
    if (before.kind === "waiting") clearTimeout(before.timer);
    if (before.kind !== "running") return;
    before.command.end(signal);
    await before.command.succeeded;
  }

  #isInForce(nodes: readonly FitNode[]): boolean {
    return this.#inForce !== null && areSameNodes(this.#inForce, nodes);
  }

  #runIfNeeded(): void {
    const nodes = this.#wanted;
    if (nodes === null || this.#isInForce(nodes)) return;
    this.#inForce = null;
    const command = this.#context.start({ nodes, previous: this.#previous, attempt: this.#failures + 1 });
    this.#phase = { kind: "running", command };
    void command.succeeded.then((succeeded) => this.#ended(nodes, succeeded));
  }

  #ended(nodes: readonly FitNode[], succeeded: boolean): void {
    if (succeeded) {
      this.#inForce = nodes;
      this.#previous = nodes;
    }
    if (this.#phase.kind === "stopped") return;
    this.#phase = { kind: "idle" };
    if (succeeded || this.#wanted === null || !areSameNodes(this.#wanted, nodes)) return this.#runIfNeeded();
    this.#failures += 1;
    const [firstMs, maxMs] = this.#context.retryMs;
    const delayMs = backoffMs({ firstMs, maxMs, failures: this.#failures });
    this.#context.onRetry(delayMs);
    const again = (): void => {
      this.#phase = { kind: "idle" };
      this.#runIfNeeded();
    };
    this.#phase = { kind: "waiting", timer: setTimeout(again, delayMs) };
  }
}
