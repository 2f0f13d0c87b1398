import type { LagLimit } from "../../cluster/lag-limit.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { HistoryStore } from "../../history/history-store.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { answerAdminRequest } from "../../http/admin-api/admin-api.ts";
import type { HintApiContext } from "../../http/admin-api/hint-api.ts";
import type { WantedLag } from "../../http/admin-api/lag-api.ts";
import type { SnapshotLongPoll } from "../../http/admin-api/snapshot-long-poll.ts";
import { answerDiagnostics } from "../../http/diagnostics/diagnostics-api.ts";
import type { DiagnosticsSources, PageReadingContext } from "../../http/diagnostics/diagnostics-sources.ts";
import { listenerDirectory } from "../../http/node-api/listener-directory.ts";
import { scopeOf } from "../../http/node-api/node-handler.ts";
import type { PageGate } from "../../http/pages/page-gate.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Drains } from "../../state/drains.ts";
import type { AnswerSources } from "./answer-sources.ts";
import { buildExporterApi } from "./exporter-pages.ts";
import { findEvidence } from "./find-evidence.ts";
import { findLag } from "./find-lag.ts";
import type { LivePage } from "./live-page.ts";
import type { Backend, ListenerInConfig } from "./listener-handler.ts";

/** What the main process answers from, in addition to the snapshot. */
export interface MainBackendContext {
  readonly eventLog: EventLog;
  readonly history: HistoryStore;
  readonly gateway: Gateway;
  readonly snapshots: SnapshotLongPoll;
  readonly page: LivePage;
  /**
   * This process, its workers and listeners, the checks of balancers, and the pushes to them: of one cluster, or all.
   */
  readonly edges: (only: string | null) => Promise<object>;
  /** The limits that the lag of a cluster's nodes is compared with. */
  readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  readonly metrics: Metrics;
  readonly drains: Drains;
  readonly hints: Omit<HintApiContext, "snapshot">;
  readonly gate: PageGate;
  /** Wall time, in ms since the epoch. */
  readonly wall: () => number;
  /** Reads the configuration again. @returns why it was refused, or `null` */
  readonly reload: () => Promise<string | null>;
  /** The file that the configuration came from, or `null`. */
  readonly configFile: string | null;
}

/** Builds the backend of one listener in the main process. */
export function buildMainBackend(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  context: MainBackendContext,
): Backend {
  const { eventLog, history, gateway, metrics, drains, hints, snapshots, page, gate, wall } = context;
  const scope = scopeOf(listener, config);
  const diagnostics: DiagnosticsSources = {
    gate,
    snapshot: sources.snapshot,
    policy: sources.policy,
    now: sources.now,
    wall,
    changes: (cluster, node) => eventLog.changes(cluster, node),
    evidence: (time, rendering) => findEvidence({ eventLog, history }, time, rendering),
    limits: context.limits,
    events: () => eventLog.events.recent(),
    storedEvents: (query, { turn, signal }) => history.readEvents(query, { signal, charge: (ms) => turn.charge(ms) }),
  };
  const admin = {
    scope,
    unready: sources.unready,
    diagnostics,
    metrics: (): ReturnType<Metrics["render"]> => metrics.render(),
    drains,
    snapshots,
    live: page.streams,
    page: page.files,
    hints: { ...hints, snapshot: sources.snapshot },
    pageApi: {
      scope,
      access: listener.access,
      lag: {
        recent: (cluster: string) => page.lag.of(cluster),
        since: (wanted: WantedLag, reading: PageReadingContext) =>
          findLag({ recent: (cluster) => page.lag.of(cluster), history }, wanted, reading),
        hasHistory: () => history.usage !== null,
        wall,
        gate,
      },
      limits: context.limits,
      edges: () => context.edges(listener.cluster),
      switchover: { passthrough: gateway, options: (cluster: string) => gateway.switchoverOptions(cluster) },
    },
    listeners: listenerDirectory(listener, config.listen, sources.portOf),
  };
  const counted = { ...diagnostics, onAnswer: (status: number): void => sources.onAnswer("operator", status) };
  const exporter = listener.dialect === "exporter" ? buildExporterApi({ listener, config }, sources, context) : null;
  return {
    passthrough: gateway,
    admin: (call) => answerAdminRequest(call, admin),
    diagnostics: (call) => answerDiagnostics(call, scope, counted),
    exporter: (call) => {
      if (exporter === null) throw new Error("Cannot answer: the listener must speak the exporter API");
      return exporter.handle(call);
    },
  };
}
