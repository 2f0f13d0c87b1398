import type { RunFacts } from "./run-document.ts";
import type { SwitchoverRun } from "./switchover-run.ts";

/** A run, and what is known of it beside its machine. */
export interface KnownRun extends Omit<RunFacts, "nowMs"> {
  readonly run: SwitchoverRun;
}

/** How many runs of a cluster can be asked for. */
const keptMax = 8;
/** How many dry runs of a cluster may go on at the same time: each uses the consoles of its poolers. */
const dryRunsMax = 4;

/** The last runs of each cluster. Of those that go on at most one is a switchover; the others are dry runs. */
export class KnownRuns {
  /** The oldest first. */
  readonly #runs = new Map<string, readonly KnownRun[]>();

  /** Adds the run that begins. The oldest one that is over is forgotten. */
  add(known: KnownRun): void {
    const { cluster } = known.run.plan;
    const runs = [...this.of(cluster), known];
    const oldest = runs.length > keptMax ? runs.find(({ run }) => run.state.kind === "ended") : undefined;
    this.#runs.set(
      cluster,
      runs.filter((one) => one !== oldest),
    );
  }

  /** Forgets a run. */
  forget({ plan: { cluster, run } }: SwitchoverRun): void {
    this.#runs.set(
      cluster,
      this.of(cluster).filter((one) => one.run.plan.run !== run),
    );
  }

  /** The switchover of a cluster that goes on; `null` if there is none. A dry run is none, and one whose clients go on. */
  running(cluster: string): SwitchoverRun | null {
    return (
      this.#ongoing(cluster).find(({ run: { plan, state } }) => !plan.isDryRun && state.kind !== "following")?.run ??
      null
    );
  }

  /** Those whose clients go on, and that only look for a primary. */
  following(cluster: string): readonly SwitchoverRun[] {
    return this.of(cluster).flatMap(({ run }) => (run.state.kind === "following" ? [run] : []));
  }

  /** Whether so many dry runs of a cluster go on that another one has to wait. */
  hasManyDryRuns(cluster: string): boolean {
    return this.#ongoing(cluster).length >= dryRunsMax;
  }

  /** A run of a cluster. @param name `null`: the one that began last */
  find(cluster: string, name: string | null): KnownRun | null {
    const runs = this.of(cluster);
    return (name === null ? runs.at(-1) : runs.find(({ run }) => run.plan.run === name)) ?? null;
  }

  of(cluster: string): readonly KnownRun[] {
    return this.#runs.get(cluster) ?? [];
  }

  get all(): readonly KnownRun[] {
    return [...this.#runs.values()].flat();
  }

  #ongoing(cluster: string): readonly KnownRun[] {
    return this.of(cluster).filter(({ run }) => run.state.kind !== "ended");
  }
}
