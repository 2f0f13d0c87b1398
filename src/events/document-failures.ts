import type { DocumentOutcome } from "../cluster/outcome.ts";
import type { ClusterState, DocumentName } from "../cluster/snapshot.ts";
import type { ProbeRecord } from "../metrics/collectors/probe-stats.ts";

/** A cluster's document that could not be had, or was another cluster's: worth one line, however long it lasts. */
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

/** An episode is over at an answer that comes this long after the last failure, in ms; what flickers within is one episode. */
const quietMs = 10_000;

/** What judgement needs. A failsafe document is only shown, and nodes before version 3 have none. */
const needed: ReadonlySet<string> = new Set<DocumentName>(["cluster", "config", "history"]);

/** Finds the beginning of each episode in which a document of a cluster is not had, or is another cluster's. */
export class DocumentFailures {
  /** When an open episode last went on, by what it is about. Three a cluster at most, and one for its scope. */
  readonly #lastMs = new Map<string, number>();

  /** To be told of every asking. @returns the trouble when a new episode begins, else `null` */
  asked({ cluster, node, endpoint, outcome }: ProbeRecord, nowMs: number): DocumentFailure | null {
    if (!needed.has(endpoint) || outcome === "skipped") return null;
    const isNew = this.#isNew(`${cluster}/${endpoint}`, outcome !== "answered", nowMs);
    return isNew ? { kind: "failed", cluster, document: endpoint, node, failure: outcome } : null;
  }

  /**
   * To be told of every document, before it is taken in: one of another scope is left out and changes nothing.
   * @returns the trouble when a new episode begins, else `null`
   */
  heard({ answer }: DocumentOutcome, cluster: ClusterState, nowMs: number): DocumentFailure | null {
    const scope = answer.cluster?.scope ?? null;
    if (scope === null || cluster.scope === null) return null;
    const isNew = this.#isNew(`${cluster.name}/scope`, scope !== cluster.scope, nowMs);
    return isNew
      ? { kind: "foreign", cluster: cluster.name, node: answer.served.source, scope, wanted: cluster.scope }
      : null;
  }

  #isNew(about: string, isTrouble: boolean, nowMs: number): boolean {
    const lastMs = this.#lastMs.get(about);
    if (isTrouble) this.#lastMs.set(about, nowMs);
    else if (lastMs !== undefined && nowMs - lastMs > quietMs) this.#lastMs.delete(about);
    return isTrouble && lastMs === undefined;
  }
}
