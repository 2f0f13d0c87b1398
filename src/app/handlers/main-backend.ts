import { eventKinds } from "../registry/event-kinds.ts";
import type { LagLimit } from "../../core/cluster/lag-limit.ts";
import type { AskedCheck } from "../../core/health/rules/asked-checks.ts";
import type { EventLog } from "../../core/events/event-log.ts";
import { noPast, type Past } from "../../core/events/stored/past.ts";
import type { Features } from "../host/features.ts";
import { answerAdminRequest } from "../../core/http/admin-api/admin-api.ts";
import type { HintApiContext } from "../../core/http/admin-api/hint-api.ts";
import type { SnapshotLongPoll } from "../../core/http/admin-api/snapshot-long-poll.ts";
import type { ConfigOverview } from "../../core/http/diagnostics/config-overview.ts";
import { answerDiagnostics } from "../../core/http/diagnostics/diagnostics-api.ts";
import type {
  DiagnosticsSources,
  EvidenceTime,
  IncidentEvidence,
  PageReadingContext,
} from "../../core/http/diagnostics/diagnostics-sources.ts";
import { listenerDirectory } from "../../core/http/node-api/listener-directory.ts";
import { scopeOf } from "../../core/http/node-api/node-handler.ts";
import type { PageGate } from "../../core/http/pages/page-gate.ts";
import type { Metrics } from "../../core/metrics/metrics.ts";
import type { DrainsApiContext } from "../../core/http/admin-api/drains-api.ts";
import type { PoolsApiContext } from "../../core/http/admin-api/pools-api.ts";
import type { Passthrough } from "../../core/http/message/passthrough.ts";
import type { BalancerStatus } from "../../core/balancing/balancer.ts";
import type { ListenerInConfig } from "../../core/feature/listener-api.ts";
import { listenerApiOf } from "../registry/listener-apis.ts";
import type { AnswerSources } from "./answer-sources.ts";
import { poolUsers, servedPools } from "./pool-users.ts";
import { apiRest } from "./feature-api.ts";
import type { Backend } from "./listener-handler.ts";

/** What the main process answers from, in addition to the snapshot. */
export interface MainBackendContext {
  readonly eventLog: EventLog;
  /** What keeps the past beyond the memory of this process, now; `null`: nothing does. */
  readonly past: () => Past | null;
  readonly passthrough: Passthrough;
  readonly snapshots: SnapshotLongPoll;
  /**
   * This process, its workers and listeners, the checks of balancers, and the pushes to them: of one cluster, or all.
   */
  readonly edges: (only: string | null) => Promise<object>;
  /** What is known of the balancers that are pushed to, as `BalancerPushes.statuses`. */
  readonly balancers: (only: string | null) => readonly BalancerStatus[];
  readonly features: Pick<Features, "routes" | "clusterRoutes" | "brought" | "overview" | "failed">;
  /** Which configuration is in force, and which was refused. */
  readonly config: () => ConfigOverview;
  /** The limits that the lag of a cluster's nodes is compared with. */
  readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  /** For which nodes balancers ask: gets the newest counts, and describes a cluster by them. */
  readonly asked: DiagnosticsSources["asked"];
  /** The checks with a limit for lag that balancers ask. */
  readonly askedChecks: (cluster: string) => readonly AskedCheck[];
  readonly metrics: Metrics;
  readonly drains: DrainsApiContext;
  readonly hints: Omit<HintApiContext, "snapshot" | "access">;
  readonly gate: PageGate;
  /** What was last known of each pool, and whether other programs get none for now (rule 16). */
  readonly pools: Pick<PoolsApiContext, "memory" | "isWithdrawn">;
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
  const { passthrough, metrics, drains, hints, snapshots } = context;
  const scope = scopeOf(listener, config);
  const diagnostics = diagnosticsOf(sources, context);
  const admin = {
    scope,
    unready: sources.unready,
    diagnostics,
    metrics: (): ReturnType<Metrics["render"]> => metrics.render(),
    drains,
    snapshots,
    hints: { ...hints, snapshot: sources.snapshot, access: listener.access },
    edges: () => context.edges(listener.cluster),
    pools: {
      pools: servedPools(config),
      snapshot: sources.snapshot,
      policy: sources.policy,
      now: sources.now,
      snapshots,
      ...context.pools,
      users: () => poolUsers(config, context.balancers(listener.cluster)),
    },
    features: context.features.routes,
    clusterRoutes: context.features.clusterRoutes,
    access: listener.access,
    listeners: listenerDirectory(listener, config.listen, sources.portOf),
  };
  const counted = { ...diagnostics, onAnswer: (status: number): void => sources.onAnswer("operator", status) };
  const api = listenerApiOf(listener.dialect);
  return {
    passthrough,
    admin: (call) => answerAdminRequest(call, admin),
    diagnostics: (call) => answerDiagnostics(call, scope, counted),
    rest: api === undefined ? notOfApi : apiRest(api, { listener, config }, { sources, context }),
  };
}

/** Not called: only APIs of features have more than what is answered from memory. */
function notOfApi(): never {
  throw new Error("Cannot answer: the listener must have an API of a feature");
}

/** What the diagnostics pages are rendered from. */
function diagnosticsOf(sources: AnswerSources, context: MainBackendContext): DiagnosticsSources {
  const { eventLog, past, gate, wall, limits, asked, askedChecks, config, features } = context;
  return {
    gate,
    snapshot: sources.snapshot,
    policy: sources.policy,
    now: sources.now,
    wall,
    changes: (cluster, node) => eventLog.changes(cluster, node),
    evidence: (time, rendering) => findEvidence({ eventLog, past: past() ?? noPast }, time, rendering),
    limits,
    asked,
    askedChecks,
    brought: (cluster) => features.brought(cluster),
    ofFeatures: (cluster) => features.overview(cluster),
    config: () => ({ ...config(), ...failedOf(features) }),
    eventKinds,
    events: () => eventLog.events.recent(),
    storedEvents: (query, { turn, signal }) =>
      (past() ?? noPast).readEvents(query, { signal, charge: (ms) => turn.charge(ms) }),
  };
}

function failedOf({ failed }: MainBackendContext["features"]): Pick<ConfigOverview, "failed_features"> {
  return failed.length === 0 ? {} : { failed_features: failed };
}

/** Where evidence is kept: the last minutes in memory, all of it on disk, if a history is configured. */
export interface EvidenceSources {
  readonly eventLog: Pick<EventLog, "evidenceSinceMs" | "recorded" | "accused">;
  readonly past: Pick<Past, "oldestEvidenceMs" | "readEvidence">;
}

/** Finds the evidence of a time: in memory, and what is older on disk. */
export async function findEvidence(
  { eventLog, past }: EvidenceSources,
  time: EvidenceTime,
  { turn, signal }: PageReadingContext,
): Promise<IncidentEvidence> {
  const { cluster, fromWallMs, toWallMs } = time;
  const inMemorySinceMs = eventLog.evidenceSinceMs;
  const recorded = eventLog.recorded(cluster, fromWallMs, toWallMs);
  // Drains in force come first and may have begun long ago: the accusations of that time no longer hold.
  const first = recorded.find(({ atWallMs }) => atWallMs >= fromWallMs);
  const inMemory = { recorded, accused: eventLog.accused(cluster, first?.atWallMs ?? fromWallMs) };
  const isCovered = fromWallMs >= inMemorySinceMs;
  if (isCovered && recorded.length > 0) return { ...inMemory, sinceWallMs: inMemorySinceMs, isComplete: true };
  const context = { signal, charge: (ms: number) => turn.charge(ms) };
  const oldestMs = Math.min((await past.oldestEvidenceMs(context)) ?? Infinity, inMemorySinceMs);
  const sinceWallMs = oldestMs === Infinity ? null : oldestMs;
  if (isCovered) return { ...inMemory, sinceWallMs, isComplete: true };
  const older = await past.readEvidence(
    {
      cluster,
      fromWallMs,
      toWallMs: Math.min(toWallMs, inMemorySinceMs - 1),
      aroundWallMs: (fromWallMs + toWallMs) / 2,
    },
    context,
  );
  const { isComplete } = older;
  if (older.recorded.length === 0) return { ...inMemory, sinceWallMs, isComplete };
  // Drains in force that began before the evidence in memory are in the older part already.
  const newer = recorded.filter(({ atWallMs }) => atWallMs >= inMemorySinceMs);
  return { recorded: [...older.recorded, ...newer], accused: older.accused, sinceWallMs, isComplete };
}
