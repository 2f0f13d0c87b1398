import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import { incidentPieces, incidentReachMs, type RecordedCluster } from "../../../core/events/incident/incident-file.ts";
import type { IncidentNode, IncidentSubject } from "../../../core/events/incident/incident-subject.ts";
import { readStoredClusters, readStoredEvidence } from "../store/history-directory.ts";
import type { StoredEvidence } from "../../../core/events/stored/past.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { fetchStatusFrom } from "../../../core/command/client/cluster-status.ts";
import { requireHistoryDirectory } from "./directory-option.ts";
import { resolveName } from "../../../core/command/client/node-name.ts";
import { replyMessage, RolecallClient } from "../../../core/command/client/rolecall-client.ts";

/** Which incident file is wanted. */
export interface PastIncidentQuery {
  /** `null`: the only cluster. */
  readonly cluster: string | null;
  /** In ms since the epoch. */
  readonly aroundMs: number;
}

/** An incident file, and where its evidence comes from. */
export interface PastIncident {
  /** The URL of the server, or the directory of the history. */
  readonly source: string;
  readonly cluster: string;
  /** The file; `null` if nothing is kept of that time. */
  readonly text: string | null;
  /** When the oldest evidence was recorded, in ms since the epoch; `null` if there is none. */
  readonly sinceMs: number | null;
}

/** How long the server may take: the evidence of a large cluster is read from disk and written in small steps. */
const defaultTimeout = "1min";

/** What an incident file without evidence ends with. */
const emptyEnd = /\nsteps: \[\]\n(end: \S+\n)?$/;

/** Fetches an incident file from the running rolecall. @throws CommandError if it cannot be fetched */
export async function fetchPastIncident(context: CommandContext, query: PastIncidentQuery): Promise<PastIncident> {
  const { progress } = context;
  const server = new RolecallClient(context, "admin", defaultTimeout);
  const { cluster } = resolveName(await fetchStatusFrom(server), { cluster: query.cluster, node: null });
  const around = new Date(query.aroundMs).toISOString();
  progress.report(`fetching the evidence of ${cluster} around ${around}`);
  const reply = await server.getPage(`/clusters/${encodeURIComponent(cluster)}/incident?around=${around}`);
  progress.done();
  if (reply.status !== 200)
    throw new CommandError("RC009", `${server.url}: ${reply.status} ${reply.phrase}: ${replyMessage(reply)}`);
  const since = Date.parse(String(reply.headers["x-rolecall-evidence-since"]));
  const text = emptyEnd.test(reply.text) ? null : reply.text;
  return { source: server.url, cluster, text, sinceMs: Number.isNaN(since) ? null : since };
}

/**
 * Makes an incident file from the history in a directory. The rolecall that wrote the history need not run.
 * @throws CommandError if there is no such history (RC006), or if several clusters are possible (RC001)
 */
export async function readPastIncident(
  context: CommandContext,
  directory: string,
  { cluster: given, aroundMs }: PastIncidentQuery,
): Promise<PastIncident> {
  const { result } = context;
  const { path, onDamaged } = await requireHistoryDirectory(context, directory);
  const range = { fromWallMs: aroundMs - incidentReachMs, toWallMs: aroundMs + incidentReachMs };
  const cluster = given ?? onlyOf(await readStoredClusters(path, range));
  const query = { ...range, cluster, aroundWallMs: aroundMs };
  const { sinceWallMs, ...evidence } = await readStoredEvidence(path, query, onDamaged);
  const found = { source: path, cluster, sinceMs: sinceWallMs };
  if (evidence.recorded.length === 0) return { ...found, text: null };
  if (evidence.subject === null)
    result.diagnose("RC192", {
      message: `${path} does not state the nodes and settings of ${cluster}: the file has the nodes that were probed and default settings`,
    });
  const described = withSubject(cluster, evidence);
  const sources: RecordedCluster[] = [];
  for (let { source } = described.subject; source !== null; source = sources.at(-1)?.subject.source ?? null) {
    if (source === cluster || sources.some(({ subject }) => subject.name === source)) break;
    sources.push(withSubject(source, await readStoredEvidence(path, { ...query, cluster: source }, onDamaged)));
  }
  return { ...found, text: [...incidentPieces({ ...described, sources, instantMs: aroundMs })].join("") };
}

/** Stored evidence with what an incident file states about its cluster. */
function withSubject(cluster: string, evidence: StoredEvidence): RecordedCluster {
  const { subject, recorded, accused, isComplete } = evidence;
  const unknown = { name: cluster, scope: null, system: null, version: null, nodes: [], source: null, settings: {} };
  const outcomes = recorded.map(({ outcome }) => outcome);
  return { subject: completed(subject ?? unknown, outcomes), recorded, accused, isComplete };
}

/**
 * Takes what the history does not state about a cluster from the reports of its nodes. Such values are missing if the
 * history described the cluster before its nodes reported for the first time.
 */
function completed(known: IncidentSubject, outcomes: readonly ProbeOutcome[]): IncidentSubject {
  const reports = outcomes.flatMap((outcome) =>
    outcome.kind === "status" && "report" in outcome.result ? outcome.result.report : [],
  );
  const first = (field: "scope" | "system" | "version"): string | null =>
    known[field] ?? reports.find((report) => report[field] !== null)?.[field] ?? null;
  return {
    ...known,
    scope: first("scope"),
    system: first("system"),
    version: first("version"),
    nodes: withProbedNodes(known.nodes, outcomes),
  };
}

/** The only cluster with evidence; `?` if there is none. @throws CommandError (RC001) if there are several */
function onlyOf(clusters: readonly string[]): string {
  const [only = "?", ...others] = clusters;
  if (others.length === 0) return only;
  throw new CommandError("RC001", `--cluster must be one of ${clusters.join(", ")}, got nothing`);
}

/** Adds the nodes that were probed and are not among the known ones. */
function withProbedNodes(known: IncidentSubject["nodes"], outcomes: readonly ProbeOutcome[]): readonly IncidentNode[] {
  const nodes = new Map(known.map((node) => [node.name, node]));
  const withApi = new Set(outcomes.flatMap((outcome) => (outcome.kind === "status" ? outcome.node : [])));
  for (const outcome of outcomes) {
    if (!("node" in outcome) || nodes.has(outcome.node)) continue;
    const { node: name } = outcome;
    // Any URL will do: an incident file states only whether the node has an API, never the API's address.
    const api = withApi.has(name) ? `http://${name}` : null;
    nodes.set(name, { name, member: name, api, database: null, isArchiveFed: false, zone: null });
  }
  return [...nodes.values()];
}
