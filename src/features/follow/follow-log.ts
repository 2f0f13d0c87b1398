import type { UpstreamState } from "./follower/upstream.ts";
import { LimitedLines } from "../../core/log/limited-lines.ts";
import type { Logger } from "../../core/log/logger.ts";
import { withoutUnsafe } from "../../core/cluster/values/unsafe-text.ts";

/**
 * Writes a line when an upstream feeds again, when it no longer does, and for each cluster that it does not feed. Tries
 * to connect are not written.
 */
export function followLines(log: Logger): (upstream: string, state: UpstreamState) => void {
  const problems = new Map<string, string | null>();
  const refusals = new LimitedLines(log, { what: "clusters not fed", level: "warn", max: 20, periodMs: 60_000 });
  return (upstream, state) => {
    if (state.kind === "live" && problems.get(upstream) !== null) {
      problems.set(upstream, null);
      log.info({ upstream, version: state.version }, "upstream followed");
      for (const { cluster, reason, message } of state.refused)
        refusals.write({ level: "warn", text: "cluster not fed; it is probed here" }, () => ({
          upstream,
          cluster: withoutUnsafe(cluster),
          reason,
          problem: withoutUnsafe(message),
        }));
    }
    if (state.kind === "waiting" && problems.get(upstream) !== state.problem) {
      problems.set(upstream, state.problem);
      log.warn({ upstream, problem: state.problem }, "upstream not followed");
    }
  };
}
