import type { ClusterState } from "../cluster/snapshot.ts";
import { leftOutKey, leftOutOf, leftOutText } from "../health/evidence/node/left-out.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { LimitedLines } from "../log/limited-lines.ts";
import type { Logger } from "../log/logger.ts";

/** Warns of members that their lists have and rolecall leaves out: once, and again if they were not left out since. */
export class LeftOutLog {
  readonly #lines: LimitedLines;

  constructor(log: Logger) {
    this.#lines = new LimitedLines(log, { what: "members left out", level: "warn", max: 20, periodMs: 60_000 });
  }

  /** To be called for every change of a cluster. */
  record(before: ClusterState, after: ClusterState, policy: HealthPolicy): void {
    const now = leftOutOf(after, policy);
    if (now.length === 0) return;
    const known = new Set(leftOutOf(before, policy).map(leftOutKey));
    for (const leftOut of now) {
      if (known.has(leftOutKey(leftOut))) continue;
      const { member, cause } = leftOut;
      const text = `member left out of ${after.name}: ${leftOutText(leftOut)}`;
      this.#lines.write({ level: "warn", text }, () => ({ cluster: after.name, member, cause }));
    }
  }
}
