import { stringify } from "yaml";
import { incidentEntry, incidentFormatOf } from "../../cluster/incident/incident.ts";
import {
  incidentDuration,
  laterFormat,
  otherThan,
  type IncidentCluster,
  type IncidentFormat,
  type IncidentValue,
} from "../../cluster/incident/incident-yaml.ts";
import type { KnownLimits } from "../../cluster/lag-limit.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import type { ProbeOutcome, Recorded } from "../../cluster/outcome.ts";
import type { Accused } from "../accusation-history.ts";
import type { IncidentSubject } from "./incident-subject.ts";

/** How much of the time before and after its instant an incident file covers, in ms. */
export const incidentReachMs: number = 5 * 60_000;

/** What is recorded of one cluster. */
export interface RecordedCluster {
  readonly subject: IncidentSubject;
  /** Oldest first. */
  readonly recorded: readonly Recorded[];
  /** Nodes that were accused of being detached or stalled before the first record, with their accusations. */
  readonly accused: Accused;
  /** Whether all evidence of the time is there. */
  readonly isComplete: boolean;
}

/** The content of an incident file. */
export interface Incident extends RecordedCluster {
  /** In ms since the epoch. */
  readonly instantMs: number;
  /** The source of a standby cluster, then the source of that one, and so on. */
  readonly sources?: readonly RecordedCluster[];
  /** The limits for lag when the file is made; absent if they are not known. */
  readonly limits?: KnownLimits;
}

const layout = { lineWidth: 0, flowCollectionPadding: true, aliasDuplicateObjects: false } as const;

const exported = "exported by rolecall: add the expected answers as expect to make it a test";
/** For readers: an absent step does not show that nothing happened. */
const incomplete = "Incomplete: evidence of this time is left out, because there is too much of it";

/** Writes an incident file piece by piece: the cluster, its settings, and the recorded outcomes as steps. */
export function* incidentPieces(incident: Incident): Generator<string> {
  const { subject, instantMs, limits } = incident;
  const [own, sources] = [inFile(incident), (incident.sources ?? []).map(inFile)];
  const all = [own, ...sources];
  const [first] = all.flatMap(({ recorded }) => recorded[0] ?? []).toSorted((one, other) => one.atMs - other.atMs);
  const firstAtMs = first?.atMs ?? 0;
  const head = {
    format: formatOf(all),
    name: `cluster ${subject.name} around ${new Date(instantMs).toISOString()}`,
    why: all.every(({ isComplete }) => isComplete) ? exported : `${exported}. ${incomplete}`,
    // The wall-clock time of the first step.
    began: new Date(first?.atWallMs ?? instantMs).toISOString(),
    ...clusterValue(own, firstAtMs),
    ...(limits === undefined ? {} : { limits: limitsValue(limits) }),
  };
  yield stringify(head, layout);
  yield* sourcePieces(sources, firstAtMs);
  yield* stepPieces(own, firstAtMs);
  const lastAtMs = Math.max(...all.map(({ recorded }) => recorded.at(-1)?.atMs ?? firstAtMs));
  // The last line. A file without it is cut off.
  yield `end: ${incidentDuration(lastAtMs - firstAtMs)}\n`;
}

/** The lowest format that has what is recorded. */
function formatOf(clusters: readonly ClusterInFile[]): IncidentFormat {
  const formats = clusters.flatMap(({ ofNodes, context }) =>
    ofNodes.map(({ outcome }) => incidentFormatOf(outcome, context)),
  );
  return formats.reduce(laterFormat, 1);
}

/** The section `source`: what is recorded of a source, with the source of that one in it. */
function* sourcePieces([source, ...further]: readonly ClusterInFile[], firstAtMs: number): Generator<string> {
  if (source === undefined) return;
  yield "source:\n";
  yield indented(stringify(clusterValue(source, firstAtMs), layout));
  for (const piece of sourcePieces(further, firstAtMs)) yield indented(piece);
  for (const piece of stepPieces(source, firstAtMs)) yield indented(piece);
}

function clusterValue({ subject, accused, recorded }: RecordedCluster, firstAtMs: number): object {
  const { scope, system, version } = subject;
  const joins = joinsOf(recorded, firstAtMs);
  return {
    cluster: {
      ...(subject.name === scope ? {} : { name: subject.name }),
      scope,
      system,
      version,
      nodes: subject.nodes.map((node) => ({
        name: node.name,
        ...(node.member === node.name ? {} : { member: node.member }),
        ...databaseOf(node.database),
        ...(node.api === null ? { exporter_only: true } : {}),
        ...(node.isArchiveFed ? { archive_fed: true } : {}),
        ...(node.zone === null ? {} : { zone: node.zone }),
        ...(joins.has(node.name) ? { joined: incidentDuration((joins.get(node.name) ?? 0) - firstAtMs) } : {}),
        ...(accused.has(node.name) ? { accused: accused.get(node.name) } : {}),
      })),
    },
    settings: subject.settings,
  };
}

/** A node that is silent is probed at least this often, in ms: the first probe of a later one shows when it joined. */
const silenceMax = 60_000;

/** The nodes that joined after the beginning, with the instants of their first outcomes, in ms of rolecall's clock. */
function joinsOf(recorded: readonly Recorded[], firstAtMs: number): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { atMs, outcome } of recorded)
    if ("node" in outcome && outcome.kind !== "drain" && !first.has(outcome.node)) first.set(outcome.node, atMs);
  return new Map([...first].filter(([, atMs]) => atMs - firstAtMs > silenceMax));
}

/** The section `steps`. @param firstAtMs when the time of the file begins, in ms of rolecall's clock */
function* stepPieces({ ofNodes, context }: ClusterInFile, firstAtMs: number): Generator<string> {
  let hasSteps = false;
  for (const { atMs, outcome } of ofNodes) {
    const entry = incidentEntry({ atMs, outcome }, context);
    if (entry === null) continue;
    const value = entry.node === null ? entry.value : { [entry.node]: entry.value };
    const sentAtMs = sentAtMsOf(outcome);
    const sent = sentAtMs === null ? {} : { sent: incidentDuration(sentAtMs - firstAtMs) };
    const step = stringify([{ at: incidentDuration(atMs - firstAtMs), ...sent, [entry.section]: value }], layout);
    yield `${hasSteps ? "" : "steps:\n"}${indented(step)}`;
    hasSteps = true;
  }
  if (!hasSteps) yield "steps: []\n";
}

/**
 * Returns the section `limits`. It leaves out the limit of the cluster, which the steps state at each instant, and the
 * names of listeners and backends, because incident files are sent to others.
 */
function limitsValue({ atWallMs, limits }: KnownLimits): { readonly [key: string]: IncidentValue } {
  const own = limits.filter(({ source }) => source !== "failover");
  return {
    known: new Date(atWallMs).toISOString(),
    lag: own.map(({ source, route, lag_bytes: bytes, lag_ms: ms, keep, fallback_primary: fallback, ...asked }) => ({
      source,
      ...otherThan("route", route, null),
      ...otherThan("lag_bytes", bytes, null),
      ...otherThan("lag_ms", ms, null),
      ...otherThan("keep", keep, 0),
      ...otherThan("fallback_primary", fallback, false),
      ...(asked.zones === undefined ? {} : { zone: asked.zones.join(",") }),
      ...(asked.with === undefined ? {} : { with: asked.with.join(",") }),
    })),
  };
}

/** Indents each line. The flag m would also do so after U+2028 and U+2029, which YAML has within a value. */
function indented(text: string): string {
  return text.replace(/(?<=^|\n)(?=[^\n])/g, "  ");
}

/** Returns when the probe of an outcome was sent (ms of the monotonic clock); `null` for a drain, which is no probe. */
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
    case "companion":
      return outcome.sentAtMs;
  }
}

/** A cluster of a file. */
interface ClusterInFile extends RecordedCluster {
  /** What was recorded of its nodes, under their names. */
  readonly ofNodes: readonly Recorded[];
  /** What is written once: a report that states another scope or system states it with its step. */
  readonly context: IncidentCluster;
}

function inFile(cluster: RecordedCluster): ClusterInFile {
  const { scope, system, version, nodes } = cluster.subject;
  const ofNodes = ofKnownNodes(cluster);
  const context: IncidentCluster = {
    scope,
    system,
    version,
    members: new Map(nodes.map(({ name, member }) => [name, member])),
    memberAt: new Map(nodes.flatMap(({ api, member }) => (api === null ? [] : [[api, member]]))),
    restarted: restartedIn(ofNodes),
  };
  return { ...cluster, ofNodes, context };
}

/**
 * Returns the outcomes under the names of the nodes whose addresses they are about: an address is probed before it proves
 * itself (rule 10). Those that are no node's are left out.
 */
function ofKnownNodes({ subject: { nodes }, recorded }: RecordedCluster): readonly Recorded[] {
  const names = new Map(nodes.toReversed().flatMap(({ name, api }) => (api === null ? [] : [[api, name]])));
  for (const { name } of nodes) names.set(name, name);
  return recorded.flatMap((found) => {
    const { outcome } = found;
    if (outcome.kind === "dcs") return found;
    if (outcome.kind === "document") {
      const { answer } = outcome;
      const source = names.get(answer.served.source) ?? answer.served.source;
      if (source === answer.served.source) return found;
      return { ...found, outcome: { ...outcome, answer: { ...answer, served: { ...answer.served, source } } } };
    }
    const node = names.get(outcome.node);
    if (node === outcome.node) return found;
    return node === undefined ? [] : { ...found, outcome: { ...outcome, node } };
  });
}

/** The nodes that state more than one start of their database. */
function restartedIn(recorded: readonly Recorded[]): ReadonlySet<string> {
  const [starts, restarted] = [new Map<string, string>(), new Set<string>()];
  for (const { outcome } of recorded) {
    if (outcome.kind !== "status" || "failure" in outcome.result) continue;
    const { startedAt } = outcome.result.report;
    if (startedAt === null) continue;
    if ((starts.get(outcome.node) ?? startedAt) !== startedAt) restarted.add(outcome.node);
    starts.set(outcome.node, startedAt);
  }
  return restarted;
}

function databaseOf(database: DatabaseAddress | null): { readonly database?: string } {
  return database === null
    ? {}
    : { database: `${database.host.includes(":") ? `[${database.host}]` : database.host}:${database.port}` };
}
