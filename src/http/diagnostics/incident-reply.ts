import { stringify } from "yaml";
import { clusterNamed } from "../../cluster/lookup.ts";
import { incidentState } from "../../cluster/incident/incident.ts";
import {
  incidentDuration as span,
  type IncidentCluster,
  type IncidentValue,
} from "../../cluster/incident/incident-yaml.ts";
import type { ProbeOutcome, Recorded } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { renderSliced, type Rendering } from "../pages/rendering.ts";
import { badRequest, type Reply } from "../message/reply.ts";

/** How far an incident reaches to either side of its instant, in ms. */
const reachMs = 5 * 60_000;

/**
 * `/incident?around=2026-11-21T03:12:00Z` (default: now): the evidence of the minutes around an instant, as a file of the format in
 * which incidents are tests (test/spec/incidents): so a bad night becomes one.
 */
export async function incidentReply(
  { target, query }: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: Rendering,
): Promise<Reply | null> {
  const around = query.get("around");
  const instant = around === null || around === "now" ? sources.wall() : Date.parse(around);
  if (Number.isNaN(instant))
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
  const recorded = sources.recorded(target.cluster, instant - reachMs, instant + reachMs);
  const accused = sources.accused(target.cluster, recorded[0]?.atWallMs ?? instant);
  const headers = ["Content-Type", "application/yaml", "Content-Disposition", `attachment; filename="incident.yaml"`];
  return renderSliced(incidentPieces({ cluster, policy, instantMs: instant, recorded, accused }), rendering, headers);
}

/** What an incident file is written from. */
export interface Incident {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
  readonly instantMs: number;
  readonly recorded: readonly Recorded[];
  /** Who was accused of being detached or stalled before the first of it, by node. */
  readonly accused: ReadonlyMap<string, readonly string[]>;
}

const layout = { lineWidth: 0, flowCollectionPadding: true, aliasDuplicateObjects: false } as const;

/** Writes an incident file step by step: what the cluster is, what it is judged by, and what was heard when. */
export function* incidentPieces({ cluster: state, policy, instantMs, recorded, accused }: Incident): Generator<string> {
  const [first] = recorded;
  const beganMs = first?.atMs ?? 0;
  const cluster = clusterOf(state);
  const { scope, system, version } = cluster;
  const head = {
    name: `cluster ${state.name} around ${new Date(instantMs).toISOString()}`,
    why: "exported by rolecall: add what should have been answered as expect, and it is a test",
    // The wall-clock instant that the steps count from; for people only.
    began: new Date(first?.atWallMs ?? instantMs).toISOString(),
    cluster: {
      scope,
      system,
      version,
      nodes: state.nodes.map(({ node }) => ({
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
    const heard = incidentState({ atMs, outcome }, cluster);
    if (heard === null) continue;
    const value = heard.node === null ? heard.value : { [heard.node]: heard.value };
    const sentAtMs = sentAtMsOf(outcome);
    const sent = sentAtMs === null ? {} : { sent: span(sentAtMs - beganMs) };
    const step = stringify([{ at: span(atMs - beganMs), ...sent, [heard.section]: value }], layout);
    yield `${hasSteps ? "" : "steps:\n"}${step.replace(/^(?=.)/gm, "  ")}`;
    hasSteps = true;
  }
  if (!hasSteps) yield "steps: []\n";
}

/** When it was asked for, in ms of our clock; `null` of an operator's word, which nobody asked for. */
function sentAtMsOf(outcome: ProbeOutcome): number | null {
  switch (outcome.kind) {
    case "document":
      return outcome.answer.served.sentAtMs;
    case "drain":
      return null;
    case "status":
    case "liveness":
    case "view_failure":
    case "exporter":
      return outcome.sentAtMs;
  }
}

/** What most reports state is written once; who states another, as of a stranger, is written with the report. */
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
    interval: span(intervalMs),
    timeout: span(timeoutMs),
    max_age: span(maxAgeMs),
    liveness_max_age: span(livenessMaxAgeMs),
    view_max_age: span(viewMaxAgeMs),
    page_max_age: span(pageMaxAgeMs),
    fall,
    rise,
    guards: {
      exclusive_primary: guards.exclusivePrimary,
      running_primary: guards.runningPrimary,
      attached_replica: guards.attachedReplica,
      same_system: guards.sameSystem,
      attach_window: span(guards.attachWindowMs),
      demoted_for: span(guards.demotedForMs),
      lag_samples: guards.lagSamples,
      dwell: span(guards.dwellMs),
      handover_hold: span(guards.handoverHoldMs),
      survive: span(guards.surviveMs),
    },
  };
}
