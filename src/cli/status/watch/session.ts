import type { ClusterStatus, StatusCluster } from "../../../core/command/client/cluster-status.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { sourceWords } from "../../../core/command/client/next-command.ts";
import { selectionOf } from "../selection/selection.ts";
import { type StatusAttempt, pause } from "./refresh.ts";
import { WatchScreen } from "./screen.ts";
import { type PressedKey, type ScrollRange, type WatchView, pressKey } from "./view.ts";
import { lagSamplesMax } from "../table/columns.ts";

/** While nothing happens, the screen is drawn anew after this time, in ms: the age of the data is on it. */
const redrawMs = 1_000;

/** What one user sees: the view, which keys change, and the status, which responses change. */
export class WatchSession {
  readonly #context: CommandContext;
  readonly #lateMs: number;
  readonly #source: readonly string[];
  readonly #screen = new WatchScreen();
  readonly #lags = new LagSamples();
  readonly #ended = new AbortController();
  #view: WatchView;
  #range: ScrollRange = { page: 1, offsetMax: 0 };
  #last: ClusterStatus | null = null;
  #lastAtMs = performance.now();
  #problem: string | null = null;
  #change = new AbortController();

  /** @param lateMs data that is older than this is shown as old, in ms */
  constructor(context: CommandContext, lateMs: number) {
    this.#context = context;
    this.#lateMs = lateMs;
    this.#source = sourceWords(context.args);
    this.#view = { ...selectionOf(context.args), offset: 0, isTyping: false, isPaused: false, isEnded: false };
  }

  get last(): ClusterStatus | null {
    return this.#last;
  }

  get isPaused(): boolean {
    return this.#view.isPaused;
  }

  /** Aborted when the user ends the command. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  end(): void {
    this.#ended.abort();
    this.changed();
  }

  press(key: PressedKey): void {
    this.#view = pressKey(this.#view, key, this.#range);
    if (this.#view.isEnded) this.end();
    else this.changed();
  }

  /** Takes a response. What arrives while the table is paused is not shown. */
  receive(response: StatusAttempt): void {
    if (this.#view.isPaused) return;
    this.#problem = "problem" in response ? response.problem : null;
    if ("clusters" in response) {
      this.#last = response;
      this.#lastAtMs = performance.now();
      this.#lags.add(response.clusters);
    }
    this.changed();
  }

  /** Draws the screen as it is now. */
  draw(): readonly string[] {
    const { io, args, style } = this.#context;
    const ageMs = performance.now() - this.#lastAtMs;
    const isLate = ageMs > this.#lateMs;
    const { lines, range } = this.#screen.draw(
      this.#view,
      { last: this.#last, ageMs, isLate, problem: this.#problem, now: new Date() },
      {
        columns: io.stdout.columns(),
        rows: io.stdout.rows(),
        isWide: args.text("output") === "wide",
        style,
        history: (cluster, node) => this.#lags.of(cluster, node),
        source: this.#source,
      },
    );
    this.#range = range;
    return lines;
  }

  /** Ends the present wait for a change. */
  changed(): void {
    this.#change.abort();
  }

  /** Waits until something changes, and at most until the screen has to be drawn anew. */
  async nextChange(): Promise<void> {
    await pause(redrawMs, [this.#change.signal]);
    this.#change = new AbortController();
  }
}

/** The recent lags of all nodes, for a sparkline of each. */
class LagSamples {
  #samples = new Map<string, readonly (number | null)[]>();

  /** Adds the lag of each node. Forgets the nodes that are gone. */
  add(clusters: readonly StatusCluster[]): void {
    const next = new Map<string, readonly (number | null)[]>();
    for (const { cluster, nodes } of clusters) {
      for (const { node, lag_bytes: lag } of nodes) {
        const key = `${cluster}/${node}`;
        next.set(key, [...(this.#samples.get(key) ?? []), lag].slice(-lagSamplesMax));
      }
    }
    this.#samples = next;
  }

  /** The lags of a node in bytes, oldest first; `null` where the lag was unknown. */
  of(cluster: string, node: string): readonly (number | null)[] {
    return this.#samples.get(`${cluster}/${node}`) ?? [];
  }
}
