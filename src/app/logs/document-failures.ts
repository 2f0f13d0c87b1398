import type { DocumentOutcome } from "../../core/cluster/outcome.ts";
import type { ClusterState, DocumentName } from "../../core/cluster/snapshot.ts";
import type { ProbeRecord } from "../../core/metrics/collectors/probe-stats.ts";

/** A document of a cluster that could not be fetched, or that belongs to another cluster. */
export type DocumentFailure =
  | {
      readonly kind: "failed";
      readonly cluster: string;
      readonly document: string;
      readonly node: string;
      readonly failure: string;
    }
  | {
      readonly kind: "foreign";
      readonly cluster: string;
      readonly node: string;
      readonly scope: string;
      readonly wanted: string;
    };

/**
 * An episode ends at a success that comes this long after the last failure, in ms. Failures that flicker within it are
 * one episode.
 */
const quietMs = 10_000;

/** The documents that judgement needs. A failsafe document is only shown, and nodes before version 3 have none. */
const needed: ReadonlySet<string> = new Set<DocumentName>(["cluster", "config", "history"]);

/**
 * Finds the beginning of each episode in which a document of a cluster cannot be fetched, or belongs to another
 * cluster.
 */
export class DocumentFailures {
  /**
   * When an open episode last went on, by its subject. At most four for each cluster: three documents and the scope.
   */
  readonly #lastMs = new Map<string, number>();

  /** Examines a finished probe. @returns the failure if a new episode begins, else `null` */
  checkProbe({ cluster, node, endpoint, outcome }: ProbeRecord, nowMs: number): DocumentFailure | null {
    if (!needed.has(endpoint) || outcome === "skipped") return null;
    const isNew = this.#isNewEpisode(`${cluster}/${endpoint}`, outcome !== "answered", nowMs);
    return isNew ? { kind: "failed", cluster, document: endpoint, node, failure: outcome } : null;
  }

  /**
   * Examines a document before it is recorded: one of another scope is ignored.
   * @returns the failure if a new episode begins, else `null`
   */
  checkScope({ answer }: DocumentOutcome, cluster: ClusterState, nowMs: number): DocumentFailure | null {
    const scope = answer.cluster?.scope ?? null;
    if (scope === null || cluster.scope === null) return null;
    const isNew = this.#isNewEpisode(`${cluster.name}/scope`, scope !== cluster.scope, nowMs);
    return isNew
      ? { kind: "foreign", cluster: cluster.name, node: answer.served.source, scope, wanted: cluster.scope }
      : null;
  }

  #isNewEpisode(subject: string, isFailure: boolean, nowMs: number): boolean {
    const lastMs = this.#lastMs.get(subject);
    if (isFailure) this.#lastMs.set(subject, nowMs);
    else if (lastMs !== undefined && nowMs - lastMs > quietMs) this.#lastMs.delete(subject);
    return isFailure && lastMs === undefined;
  }
}
