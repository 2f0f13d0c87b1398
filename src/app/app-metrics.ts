import { featureCounted } from "./registry/counted.ts";
import type { Config } from "../core/config/model/config.ts";
import { type Logger, lostLinesOf } from "../core/log/logger.ts";
import { AnswerCounter } from "../core/http/message/answer-counter.ts";
import { Metrics } from "../core/metrics/metrics.ts";
import { CertificateExpiry } from "./certificate-expiry.ts";
import type { AskedCheck } from "../core/health/rules/asked-checks.ts";
import type { Offers } from "../core/feature/offer.ts";
import { evidenceBringers } from "../core/feature/offers.ts";
import { ListenerGroup } from "./listener-group.ts";
import { Monitor } from "./monitor.ts";
import { Reloader } from "./reloader.ts";
import { version } from "../core/config/version.ts";
import { processEventKinds } from "../core/events/cluster-event.ts";
import { clusterEventKinds } from "./registry/event-kinds.ts";
import { livenessIntervalFactor } from "../core/state/clusters.ts";

/** What the metrics are read from. Most of it is built later, because it counts in them. */
export interface MetricsParts {
  readonly log: Logger;
  readonly counter: AnswerCounter;
  readonly config: () => Config;
  readonly monitor: () => Monitor;
  readonly listeners: () => ListenerGroup;
  readonly certificates: () => CertificateExpiry;
  readonly asked: (cluster: string) => readonly AskedCheck[];
  readonly reloader: () => Reloader;
}

/** Builds the metrics of the serving process. */
export function buildMetrics(parts: MetricsParts): Metrics {
  const { log, counter, config, monitor, listeners, certificates, asked, reloader } = parts;
  return new Metrics({
    asked,
    found: (cluster) => monitor().features.conditions(cluster),
    eventKinds: { cluster: clusterEventKinds, process: processEventKinds },
    counted: featureCounted,
    configInForce: () => reloader().inForce,
    snapshot: () => monitor().store.current,
    policy: (cluster) => monitor().store.policyOf(cluster),
    now: () => monitor().clock.now(),
    wall: () => monitor().clock.wall(),
    answers: () => [...counter.rows(), ...listeners().answers()],
    workers: () => listeners().usage(),
    fastPath: () => listeners().fastPathCounts(),
    ofFeatures: () => monitor().features.metrics,
    fed: () => fedIn(monitor().offers),
    certificates: () => certificates().readings,
    lostLogLines: () => lostLinesOf(log),
    refresh: () => listeners().refresh(),
    exporter: () => config().exporter,
    schedule: () => ({ probe: config().probe, livenessIntervalFactor }),
    version: version(),
  });
}

/** The clusters that other instances feed now. */
function fedIn(offers: Offers): ReadonlySet<string> {
  const phases = evidenceBringers.in(offers).flatMap((bringer) => bringer.phases);
  return new Set(phases.flatMap(([cluster, phase]) => (phase === "following" ? [cluster] : [])));
}
