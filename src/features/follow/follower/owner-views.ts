import type { StatusOutcome } from "../../../core/cluster/outcome.ts";
import type { OwnerDisagreement } from "../../../core/feature/shared-evidence.ts";

/** When views count. In ms. */
export interface ViewTimes {
  readonly nowMs: number;
  /** An older view counts no more. */
  readonly maxAgeMs: number;
  /** How long a difference must last: two owners do not ask a node at the same instant. */
  readonly settleMs: number;
}

interface OwnerView {
  readonly says: string;
  readonly sentAtMs: number;
}

/** What each upstream of a cluster says of each node: whether it answers, in which role, and who holds the lock. */
export class OwnerViews {
  /** Node -> upstream -> its view. */
  readonly #views = new Map<string, Map<string, OwnerView>>();
  /** Since when the views of a node differ. */
  readonly #sinceMs = new Map<string, number>();

  /** An upstream has probed a node. */
  state(upstream: string, { node, sentAtMs, result }: StatusOutcome): void {
    const views = this.#views.get(node) ?? new Map<string, OwnerView>();
    this.#views.set(node, views);
    if (sentAtMs < (views.get(upstream)?.sentAtMs ?? -Infinity)) return;
    views.set(upstream, { says: wordsFor(result), sentAtMs });
  }

  /** Forgets upstreams and nodes that are gone. */
  keepOnly(upstreams: ReadonlySet<string>, nodes: ReadonlyMap<string, unknown>): void {
    for (const [node, views] of this.#views) {
      for (const upstream of views.keys()) if (!upstreams.has(upstream)) views.delete(upstream);
      if (nodes.has(node)) continue;
      this.#views.delete(node);
      this.#sinceMs.delete(node);
    }
  }

  /** The nodes about which upstreams have disagreed for long enough. */
  decide({ nowMs, maxAgeMs, settleMs }: ViewTimes): readonly OwnerDisagreement[] {
    const found: OwnerDisagreement[] = [];
    for (const [node, views] of this.#views) {
      const says = new Map(
        [...views].flatMap(([upstream, view]) =>
          nowMs - view.sentAtMs > maxAgeMs ? [] : [[upstream, view.says] as const],
        ),
      );
      if (new Set(says.values()).size < 2) {
        this.#sinceMs.delete(node);
        continue;
      }
      const sinceMs = this.#sinceMs.get(node) ?? nowMs;
      this.#sinceMs.set(node, sinceMs);
      if (nowMs - sinceMs >= settleMs) found.push({ node, sinceMs, says });
    }
    return found;
  }
}

function wordsFor(result: StatusOutcome["result"]): string {
  if ("failure" in result) return "does not answer";
  const { report, hasLock } = result;
  return `answers as ${report.role}${hasLock ? " with the leader lock" : ""}`;
}
