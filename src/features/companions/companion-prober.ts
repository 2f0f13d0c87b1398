import { isOwnFailure } from "../../core/cluster/values/failure.ts";
import { countFailure, type FailureCount } from "../../core/health/evidence/node/fall-and-rise.ts";
import type { ProbeContext } from "../../core/probe/client/probe-context.ts";
import { PeriodicTask } from "../../core/probe/schedule/periodic-task.ts";
import { statusIntervalMs } from "../../core/probe/status-requests.ts";
import type { CheckedCompanion, CompanionTarget, RunningCheck } from "../../core/probe/client/companion-check.ts";

const noFailures: FailureCount = { failuresInRow: 0, failedAtMs: -Infinity };

/** Checks one companion in the background, each interval, with one connection at a time (rule 15). */
export class CompanionProber {
  readonly #checked: CheckedCompanion;
  readonly #context: Pick<ProbeContext, "cluster" | "now" | "record" | "schedule" | "onProbeFinished">;
  readonly #task: PeriodicTask;
  #running: RunningCheck | null = null;
  #failures: FailureCount = noFailures;

  constructor(checked: CheckedCompanion, context: ProbeContext) {
    this.#checked = checked;
    this.#context = context;
    this.#task = new PeriodicTask(() => this.#check(), context);
  }

  /** Resolves when the check in flight, if any, has ended. */
  get inFlight(): Promise<void> {
    return this.#task.inFlight;
  }

  /** Whether this prober checks that target. */
  matches({ host, port, kind, path }: CompanionTarget): boolean {
    const { target } = this.#checked;
    return target.host === host && target.port === port && target.kind === kind && target.path === path;
  }

  /** Checks now, unless a check is in flight. Continues at the scheduled interval. */
  probe(): void {
    void this.#task.run();
  }

  /** Ends checking. */
  stop(): void {
    this.#task.stop();
    this.#running?.cancel();
  }

  async #check(): Promise<number> {
    const { cluster, now, schedule, onProbeFinished, record } = this.#context;
    const { node, companion, begin } = this.#checked;
    const sentAtMs = now();
    this.#running = begin();
    const failure = await this.#running.ended;
    this.#running = null;
    if (this.#task.isStopped) return schedule.intervalMs;
    const outcome = failure === null ? "answered" : failure.kind;
    onProbeFinished({ cluster, node, endpoint: `companion ${companion}`, outcome, durationMs: now() - sentAtMs });
    if (failure === null || !isOwnFailure(failure)) {
      this.#failures = failure === null ? noFailures : countFailure(this.#failures, sentAtMs, schedule.intervalMs);
      record({ kind: "companion", cluster, node, companion, sentAtMs, failure });
    }
    return statusIntervalMs(schedule, this.#failures.failuresInRow);
  }
}
