import { stringify } from "yaml";
import { incidentPart, type IncidentValue } from "../cluster/incident.ts";
import type { Recorded } from "../cluster/outcome.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import type { Settings } from "../health/settings.ts";
import type { Asked, OperatorSources } from "./operator.ts";
import { badRequest, type Reply } from "./reply.ts";

/** How far an incident reaches to either side of its instant, in ms. */
const reachMs = 5 * 60_000;

/**
 * `/incident?around=2026-11-21T03:12:00Z` (default: now): the evidence of the minutes around an instant, as a file of the format in
 * which incidents are tests (test/spec/incidents): so a bad night becomes one.
 */
export function incidentReply({ address, query }: Asked, sources: OperatorSources): Reply {
  const around = query.get("around");
  const instant = around === null || around === "now" ? sources.wall() : Date.parse(around);
  if (Number.isNaN(instant))
    return badRequest({ thing: "parameter around", value: around ?? "", allowed: "an instant such as 2026-11-21T03:12:00Z, or now" });
  const snapshot = sources.snapshot();
  const part = snapshot.parts[snapshot.index.get(address.cluster) ?? -1];
  const settings = sources.settings(address.cluster);
  if (part === undefined || settings === undefined)
    return badRequest({ thing: "cluster", value: address.cluster, allowed: "a cluster of the configuration" });
  const recorded = sources.recorded(address.cluster, instant - reachMs, instant + reachMs);
  return {
    status: 200,
    phrase: "OK",
    headers: [
      "Cache-Control",
      "no-store",
      "Content-Type",
      "application/yaml",
      "Content-Disposition",
      `attachment; filename="incident.yaml"`,
    ],
    body: Buffer.from(incidentFile({ part, settings, instantMs: instant, recorded })),
  };
}

/** What an incident file is written from. */
export interface Incident {
  readonly part: ClusterPart;
  readonly settings: Settings;
  readonly instantMs: number;
  readonly recorded: readonly Recorded[];
}

/** Writes an incident file: what the cluster is, what it is judged by, and what was heard when. */
export function incidentFile({ part, settings, instantMs, recorded }: Incident): string {
  const beganMs = recorded[0]?.atMs ?? 0;
  const file = {
    name: `cluster ${part.name} around ${new Date(instantMs).toISOString()}`,
    why: "exported by rolecall: add what should have been answered as expect, and it is a test",
    cluster: {
      scope: part.scope,
      nodes: part.nodes.map(({ node }) => ({
        name: node.name,
        ...(node.member === node.name ? {} : { member: node.member }),
        ...databaseOf(node.database),
        ...(node.isArchiveFed ? { archive_fed: true } : {}),
      })),
    },
    settings: settingsValue(settings),
    steps: recorded.flatMap(({ atMs, outcome }) => {
      const heard = incidentPart(outcome);
      if (heard === null) return [];
      const sentAtMs = outcome.kind === "document" ? outcome.answer.served.sentAtMs : outcome.sentAtMs;
      const value = heard.node === null ? heard.value : { [heard.node]: heard.value };
      return [{ at: span(atMs - beganMs), sent: span(sentAtMs - beganMs), [heard.section]: value }];
    }),
  };
  return stringify(file, { lineWidth: 0, flowCollectionPadding: true, aliasDuplicateObjects: false });
}

function databaseOf(database: ClusterPart["nodes"][number]["node"]["database"]): { readonly database?: string } {
  return database === null ? {} : { database: `${database.host.includes(":") ? `[${database.host}]` : database.host}:${database.port}` };
}

function settingsValue({ guards, maxAgeMs, intervalMs, fall, rise }: Settings): IncidentValue {
  return {
    interval: span(intervalMs),
    max_age: span(maxAgeMs),
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

function span(ms: number): string {
  return `${Math.round(ms)}ms`;
}
