import type { Config } from "../config/model/config.ts";
import { version } from "../config/version.ts";
import { eventKinds } from "../events/cluster-event.ts";
import { lostLinesOf, type Logger } from "../log/logger.ts";
import type { AnswerCounter } from "../http/message/answer-counter.ts";
import { Metrics } from "../metrics/metrics.ts";
import { livenessIntervalFactor } from "../state/clusters.ts";
import type { CertificateExpiry } from "./certificate-expiry.ts";
import type { ListenerGroup } from "./listener-group.ts";
import type { Monitor } from "./monitor.ts";
import type { LivePage } from "./handlers/live-page.ts";

/** What the metrics are read from. Most of it is built later, because it counts in them. */
export interface MetricsParts {
  readonly log: Logger;
  readonly counter: AnswerCounter;
  readonly config: () => Config;
  readonly monitor: () => Monitor;
  readonly listeners: () => ListenerGroup;
  readonly certificates: () => CertificateExpiry;
  readonly page: () => LivePage;
}

/** Builds the metrics of the serving process. */
export function buildMetrics(parts: MetricsParts): Metrics {
  const { log, counter, config, monitor, listeners, certificates, page } = parts;
  return new Metrics({
    eventKinds,
    snapshot: () => monitor().store.current,
    policy: (cluster) => monitor().store.policyOf(cluster),
    now: () => monitor().clock.now(),
    wall: () => monitor().clock.wall(),
    answers: () => [...counter.rows(), ...listeners().answers()],
    workers: () => listeners().usage(),
    fastPath: () => listeners().fastPathCounts(),
    certificates: () => certificates().readings,
    lostLogLines: () => lostLinesOf(log),
    history: () => monitor().history.usage,
    refresh: () => listeners().refresh(),
    streams: () => page().streams.counts,
    exporter: () => config().exporter,
    schedule: () => ({ probe: config().probe, livenessIntervalFactor }),
    version: version(),
  });
}
