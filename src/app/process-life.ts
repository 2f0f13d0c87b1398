import type { Phase } from "../core/workers/messages.ts";
import { newLife, nextStep, type Life, type LifeAction, type LifeEvent } from "./life.ts";
import type { PreparedGroup } from "./listener-group.ts";

/** What the life of a process consists of. */
export interface LifeParts {
  /** Starts everything. If it fails, everything is closed. */
  readonly start: () => Promise<void>;
  /** Runs the reload that was requested during the start. */
  readonly reload: () => void;
  /** The process takes no more work: refuses reloads. */
  readonly refuse: () => void;
  /** How long answers go on before everything is closed, in ms. */
  readonly drainMs: () => number;
  /** Closes everything. The process serves nothing afterwards. */
  readonly close: () => Promise<void>;
  /** Ends other processes at once. */
  readonly kill: () => void;
  readonly onPhase: (phase: Phase) => void;
}

/** A start or a reload was abandoned, because the process stops. */
export class StoppingError extends Error {
  constructor() {
    super("rolecall is stopping");
    this.name = "StoppingError";
  }
}

/** Leads a process through its life: takes each event, and does what follows from it. */
export class ProcessLife {
  readonly #parts: LifeParts;
  #life: Life = newLife;

  constructor(parts: LifeParts) {
    this.#parts = parts;
  }

  /** What clients and workers learn of it. */
  get phase(): Phase {
    const { kind } = this.#life;
    if (kind === "starting") return "starting";
    return kind === "serving" || kind === "reloading" ? "serving" : "draining";
  }

  /** Takes an event. @returns what its caller has to do */
  advance(event: LifeEvent): LifeAction {
    const { phase } = this;
    const { life, action } = nextStep(this.#life, event);
    this.#life = life;
    if (this.phase !== phase) this.#parts.onPhase(this.phase);
    return action;
  }

  /** Starts. Resolves, too, when a stop ended the start. @throws what made the start fail; everything is closed then */
  async start(): Promise<void> {
    try {
      await this.#parts.start();
    } catch (error) {
      if (this.advance("start_failed") !== "close") return;
      await this.#close();
      throw error;
    }
    if (this.advance("started") === "load") this.#parts.reload();
  }

  /**
   * Puts in force what a start or a reload has prepared.
   * @throws StoppingError if the process has begun to stop; it is abandoned then
   */
  async putInForce(prepared: PreparedGroup, enforce: () => void): Promise<void> {
    if (this.advance("prepared") === "commit") return prepared.commit(enforce);
    await prepared.abandon();
    throw new StoppingError();
  }

  /** @throws StoppingError if the process has begun to stop */
  refuseIfEnding(): void {
    if (this.phase === "draining") throw new StoppingError();
  }

  /** Stops, whatever runs; with `drains`, answers go on for a while. A second call waits for nothing. */
  async stop({ drains }: { readonly drains: boolean }): Promise<void> {
    const wasDraining = this.#life.kind === "draining";
    const action = this.advance(drains ? "drain_requested" : "end_requested");
    if (action === "exit") {
      this.#parts.kill();
      // The listeners close even if the process itself goes on.
      if (wasDraining) void this.#close().catch(() => {});
    }
    if (action === "drain") await this.#drain();
    else if (action === "close") await this.#close();
  }

  async #drain(): Promise<void> {
    this.#parts.refuse();
    // The timer alone must not keep the process alive: a second call does not wait for it. The open listeners do.
    await new Promise((resolve) => void setTimeout(resolve, this.#parts.drainMs()).unref());
    if (this.advance("drained") === "close") await this.#close();
  }

  async #close(): Promise<void> {
    this.#parts.refuse();
    await this.#parts.close();
    this.advance("closed");
  }
}
