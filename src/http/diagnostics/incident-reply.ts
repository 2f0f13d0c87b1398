import { stringify } from "yaml";
import { clusterNamed } from "../../cluster/lookup.ts";
import { incidentState } from "../../cluster/incident/incident.ts";
import {
  incidentDuration,
  incidentFormat,
  type IncidentCluster,
  type IncidentValue,
} from "../../cluster/incident/incident-yaml.ts";
import type { ProbeOutcome, Recorded } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { renderSliced, type Rendering } from "../pages/rendering.ts";
import { badRequest, type Reply } from "../message/reply.ts";

/** How much of the time before and after its instant an incident covers, in ms. */
const reachMs = 5 * 60_000;

/**
 * Answers `/incident?around=2026-11-21T03:12:00Z` (default: now) with the evidence of the minutes around an instant, in
 * the file format of the incident tests (test/spec/incidents), so that an incident can become a test.
 */
export async function incidentReply(
  { target, query }: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: Rendering,
): Promise<Reply | null> {
  const around = query.get("around");
  const instantMs = around === null || around === "now" ? sources.wall() : Date.parse(around);
  if (Number.isNaN(instantMs))
    return badRequest({
      subject: "parameter around",
      value: around ?? "",
      allowed: "an instant such as 2026-11-21T03:12:00Z, or now",
    });
  const snapshot = sources.snapshot();
  const cluster = clusterNamed(snapshot, target.cluster);
  const policy = sources.policy(target.cluster);
  if (cluster === undefined || policy === undefined)
    return badRequest({ subject: "cluster", value: target.cluster, allowed: "a cluster of the configuration" });
  const { recorded, accused, sinceWallMs, isComplete } = await sources.evidence(
    { cluster: target.cluster, fromWallMs: instantMs - reachMs, toWallMs: instantMs + reachMs },
    rendering,
  );
  const headers = [
    "Content-Type",
    "application/yaml",
    "Content-Disposition",
    `attachment; filename="incident.yaml"`,
    // How far back incident files reach: a client cannot see that from an empty one.
    ...(isComplete ? [] : ["X-Rolecall-Evidence-Incomplete", "true"]),
    ...(sinceWallMs === null ? [] : ["X-Rolecall-Evidence-Since", new Date(sinceWallMs).toISOString()]),
  ];
  return renderSliced(
    incidentPieces({ cluster, policy, instantMs, recorded, accused, isComplete }),
    rendering,
    headers,
  );
}

/** The content of an incident file. */
export interface Incident {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
  readonly instantMs: number;
  readonly recorded: readonly Recorded[];
  /** Nodes that were accused of being detached or stalled before the first record, with their accusations. */
  readonly accused: ReadonlyMap<string, readonly string[]>;
  /** Whether all evidence of the time is there. */
  readonly isComplete: boolean;
}

const layout = { lineWidth: 0, flowCollectionPadding: true, aliasDuplicateObjects: false } as const;

const exported = "exported by rolecall: add the expected answers as expect to make it a test";
/** For readers: an absent step does not show that nothing happened. */
const incomplete = "Incomplete: evidence of this time is left out, because there is too much of it";

/** Writes an incident file piece by piece: the cluster, its settings, and the recorded outcomes as steps. */
export function* incidentPieces({
  cluster: source,
  policy,
  instantMs,
  recorded,
  accused,
  isComplete,
}: Incident): Generator<string> {
  const [first] = recorded;
  const firstAtMs = first?.atMs ?? 0;
  const cluster = clusterOf(source);
  const { scope, system, version } = cluster;
  const head = {
    format: incidentFormat,
    name: `cluster ${source.name} around ${new Date(instantMs).toISOString()}`,
    why: isComplete ? exported : `${exported}. ${incomplete}`,
    // The wall-clock time of the first step.
    began: new Date(first?.atWallMs ?? instantMs).toISOString(),
    cluster: {
      ...(source.name === scope ? {} : { name: source.name }),
      scope,
      system,
      version,
      nodes: source.nodes.map(({ node }) => ({
        name: node.name,
        ...(node.member === node.name ? {} : { member: node.member }),
        ...databaseOf(node.database),
        ...(node.api === null ? { exporter_only: true } : {}),
        ...(node.isArchiveFed ? { archive_fed: true } : {}),
        ...(accused.has(node.name) ? { accused: accused.get(node.name) } : {}),
      })),
    },
    settings: settingsValue(policy),
  };
  yield stringify(head, layout);
  let hasSteps = false;
  for (const { atMs, outcome } of recorded) {
    const recordedState = incidentState({ atMs, outcome }, cluster);
    if (recordedState === null) continue;
    const value = recordedState.node === null ? recordedState.value : { [recordedState.node]: recordedState.value };
    const sentAtMs = sentAtMsOf(outcome);
    const sent = sentAtMs === null ? {} : { sent: incidentDuration(sentAtMs - firstAtMs) };
    const step = stringify(
      [{ at: incidentDuration(atMs - firstAtMs), ...sent, [recordedState.section]: value }],
      layout,
    );
    yield `${hasSteps ? "" : "steps:\n"}${indented(step)}`;
    hasSteps = true;
  }
  const lastAtMs = recorded.at(-1)?.atMs ?? firstAtMs;
  // The last line. A file without it is cut off.
  yield `${hasSteps ? "" : "steps: []\n"}end: ${incidentDuration(lastAtMs - firstAtMs)}\n`;
}

/** Indents each line. The flag m would also do so after U+2028 and U+2029, which YAML has within a value. */
function indented(text: string): string {
  return text.replace(/(?<=^|\n)(?=[^\n])/g, "  ");
}

/** Returns when the probe of an outcome was sent (ms of rolecall's clock); `null` for a drain, which is no probe. */
function sentAtMsOf(outcome: ProbeOutcome): number | null {
  switch (outcome.kind) {
    case "document":
      return outcome.answer.served.sentAtMs;
    case "drain":
      return null;
    case "status":
    case "liveness":
    case "view_failure":
    case "dcs":
    case "exporter":
      return outcome.sentAtMs;
  }
}

/**
 * Returns what is written once for the cluster. A report that states another scope or system states it with its step.
 */
function clusterOf({ scope, position, nodes }: ClusterState): IncidentCluster {
  const reports = nodes.flatMap(({ report }) => report ?? []);
  return {
    scope,
    system: position?.system ?? reports.find(({ system }) => system !== null)?.system ?? null,
    version: reports.find(({ version }) => version !== null)?.version ?? null,
    members: new Map(nodes.map(({ node }) => [node.name, node.member])),
    memberAt: new Map(nodes.flatMap(({ node }) => (node.api === null ? [] : [[node.api, node.member]]))),
  };
}

function databaseOf(database: ClusterState["nodes"][number]["node"]["database"]): { readonly database?: string } {
  return database === null
    ? {}
    : { database: `${database.host.includes(":") ? `[${database.host}]` : database.host}:${database.port}` };
}

function settingsValue({
  guards,
  maxAgeMs,
  livenessMaxAgeMs,
  viewMaxAgeMs,
  pageMaxAgeMs,
  intervalMs,
  timeoutMs,
  fall,
  rise,
}: HealthPolicy): IncidentValue {
  return {
    interval: incidentDuration(intervalMs),
    timeout: incidentDuration(timeoutMs),
    max_age: incidentDuration(maxAgeMs),
    liveness_max_age: incidentDuration(livenessMaxAgeMs),
    view_max_age: incidentDuration(viewMaxAgeMs),
    page_max_age: incidentDuration(pageMaxAgeMs),
    fall,
    rise,
    guards: {
      exclusive_primary: guards.exclusivePrimary,
      running_primary: guards.runningPrimary,
      attached_replica: guards.attachedReplica,
      same_system: guards.sameSystem,
      attach_window: incidentDuration(guards.attachWindowMs),
      demoted_for: incidentDuration(guards.demotedForMs),
      lag_samples: guards.lagSamples,
      dwell: incidentDuration(guards.dwellMs),
      handover_hold: incidentDuration(guards.handoverHoldMs),
      survive: incidentDuration(guards.surviveMs),
    },
  };
}
