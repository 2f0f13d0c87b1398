import type { PartialConfig, PartialProbe } from "../sources/partial-config.ts";
import { type ConfigIssue, valueIssue } from "../model/issue.ts";

/** Checks spans of time, and ports, that have to fit to each other. */
export function checkDurations({ probe, simulator }: PartialConfig): readonly ConfigIssue[] {
  const { connectTimeoutMs, timeoutMs, intervalMs, maxAgeMs } = probe.values;
  const issues: ConfigIssue[] = [];
  if (connectTimeoutMs > timeoutMs && areReadable(probe, ["connect_timeout", "timeout"])) {
    // The one that was said is the one to change.
    issues.push(
      probe.said.has("connect_timeout")
        ? valueIssue(["probe", "connect_timeout"], `${connectTimeoutMs}ms`, `at most probe.timeout (${timeoutMs}ms)`)
        : valueIssue(["probe", "timeout"], `${timeoutMs}ms`, `at least probe.connect_timeout (${connectTimeoutMs}ms)`),
    );
  }
  // A node that always answers just in time shows evidence as old as one interval and one timeout. It must not count as stale.
  const leastMs = intervalMs + timeoutMs;
  if (maxAgeMs < leastMs && areReadable(probe, ["interval", "timeout", "max_age"])) {
    issues.push(
      valueIssue(["probe", "max_age"], `${maxAgeMs}ms`, `at least probe.interval + probe.timeout (${leastMs}ms)`),
    );
  }
  if (simulator !== undefined && simulator.port + simulator.nodes - 1 > 65_535) {
    issues.push(
      valueIssue(
        ["simulator", "port"],
        simulator.port,
        `at most ${65_536 - simulator.nodes}, as one port a node follows`,
      ),
    );
  }
  return issues;
}

function areReadable({ broken }: PartialProbe, keys: readonly string[]): boolean {
  return keys.every((key) => !broken.has(key));
}
