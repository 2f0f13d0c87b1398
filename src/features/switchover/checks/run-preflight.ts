import { formatPoolerAddress } from "../../../core/config/values/pooler-address.ts";
import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { ConsoleError } from "../../../core/balancing/pgbouncer/console-error.ts";
import { inspectPgbouncers } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { countText } from "../../../core/health/wording.ts";
import { candidateLines } from "../preflight/candidate-lines.ts";
import { clusterLines, unknownClusterLine } from "../preflight/cluster-lines.ts";
import { forecastLine, forecastOf } from "../preflight/forecast.ts";
import { guardianLine, guardLine, stateFileLine } from "../preflight/guard-lines.ts";
import { fileLines } from "../preflight/file-lines.ts";
import { askPeers } from "./ask-peers.ts";
import { tryFiles } from "./try-files.ts";
import { leaderLine } from "../preflight/leader-lines.ts";
import { poolerLines } from "../preflight/pooler-lines.ts";
import { isFileWritten, type PoolerSetup, relevantDatabases } from "../preflight/pooler-setup.ts";
import { concluded, errorLine, type Preflight, type PreflightLine, warningLine } from "../preflight/preflight-line.ts";
import { holderLines, type ServerSamples } from "../preflight/probable-holders.ts";
import { restartForecast, restartForecastLine, restartLines } from "../preflight/restart-lines.ts";
import type { PreflightInput, PreflightSources } from "./preflight-input.ts";
import { hostsOf, type InspectedPooler, resolveHosts } from "./resolve-hosts.ts";
import { sampleServers } from "./sample-servers.ts";

/** How long a console may take for the login, and for all its answers, in ms: a busy machine is no reason to refuse. */
const consoleMs = 1_500;
/** How long a resolver may take for all names, in ms. */
const resolveMs = 300;
/** When the last sample is taken at the latest, in ms after the start. */
const samplesMs = 1_600;

type Samples = ServerSamples | Error | null;

/**
 * Checks whether a seamless switchover may run, and how long clients will wait. Takes at most 3.3 s, and 1.1 s as a rule. Changes nothing, and
 * sends nothing to the nodes: of them the evidence of the probes is used.
 * @returns every line with its figures, in the order in which people read them
 */
export async function runPreflight(input: PreflightInput, sources: PreflightSources): Promise<Preflight> {
  const { cluster, config, deadlineMs, restart } = input;
  const restarted = restart === null ? null : { node: input.leader ?? "", databases: restart.databases };
  const { poolers } = config;
  const sampling = samplePoolers(poolers, { cluster, restarted });
  const claiming = askPeers(input);
  // All at the same time: also a pooler without a database of the cluster may be the process of another one.
  const inspected = await inspectPgbouncers(
    poolers.map(({ pgbouncer }) => pgbouncer),
    consoleMs,
  );
  const usable = poolers.flatMap((pooler, at): readonly InspectedPooler[] => {
    const shown = inspected[at];
    return shown === undefined || shown instanceof ConsoleError ? [] : [{ pooler, shown }];
  });
  const resolved = await resolveHosts(hostsOf(usable, sources.servers()), resolveMs);
  const files = restart === null ? await tryFiles(usable, cluster) : [];
  const samples = await sampling;
  const setup = { poolers, servers: sources.servers(), resolved, deadlineMs, cluster, restarted };
  const guards = { ...input, stateFile: config.stateFile, peers: config.peers.map(({ name }) => name) };
  const ofPoolers = poolers.flatMap((pooler, at) => {
    const shown = inspected[at];
    const databases = relevantDatabases({ pooler, cluster, restarted }).map(({ name }) => name);
    const isNeeded = databases.length > 0;
    const guard = isNeeded ? [guardLine(pooler, guards)] : [];
    if (shown === undefined || shown instanceof ConsoleError) return [consoleLine(pooler, shown, isNeeded), ...guard];
    const sampled = samples[at] ?? null;
    const holders = sampled === null ? [] : holderLines(pooler, databases, sampled);
    return [
      ...poolerLines({ ...setup, pooler, shown }),
      ...files.flatMap((file) => (file.pooler === pooler.name ? fileLines(file) : [])),
      ...guard,
      ...holders,
    ];
  });
  const view = sources.view();
  if (view === null) return concluded([unknownClusterLine(cluster)], null);
  const forecast = forecastOf(view, input);
  const ofCluster =
    restart === null
      ? [
          leaderLine(view, input.leader),
          ...candidateLines(view, input.candidate, isFileWritten(poolers, cluster)),
          ...clusterLines(view),
          ...input.uncounted.map(uncountedLine),
        ]
      : restartLines(view, input.leader ?? "", restart);
  const lines = [
    ...ofCluster,
    ...(samples.every((sampled) => sampled === null) ? [noPoolerLine(cluster)] : []),
    ...ofPoolers,
    stateFileLine(guards),
    ...(await claiming),
    guardianLine(guards),
    restart === null ? forecastLine(forecast, deadlineMs) : restartForecastLine(input.heldMs, deadlineMs),
  ];
  return concluded(lines, restart === null ? (forecast?.waitMs ?? null) : restartForecast(input.heldMs));
}

/** The samples of each pooler of the configuration; `null` where no database of it is to be paused. */
function samplePoolers(
  poolers: PreflightInput["config"]["poolers"],
  of: Pick<PoolerSetup, "cluster" | "restarted">,
): Promise<readonly Samples[]> {
  const endMs = performance.now() + samplesMs;
  return Promise.all(
    poolers.map(async (pooler) =>
      relevantDatabases({ pooler, ...of }).length === 0 ? null : sampleServers(pooler.pgbouncer, consoleMs, endMs),
    ),
  );
}

/** A pooler that says nothing. One without a database of the cluster refuses nothing. */
function consoleLine(
  { name, pgbouncer }: PoolerConfig,
  problem: ConsoleError | undefined,
  isNeeded: boolean,
): PreflightLine {
  const text = `Cannot use the console at ${formatPoolerAddress(pgbouncer.address)}: ${errorMessage(problem)}`;
  const hint = "Check that PgBouncer runs, its address, and that the user is in admin_users and has this password.";
  return isNeeded
    ? errorLine(name, text, hint)
    : warningLine(name, `${text}; whether clients of it lead to the cluster is not known`, hint);
}

/** Envoys of a listener that everybody may reach: a stranger among them must not hold the switchover. */
function uncountedLine({ listener, envoys }: PreflightInput["uncounted"][number]): PreflightLine {
  return warningLine(
    listener,
    `${countText(envoys, "Envoy")} of this listener, which everybody may reach, ${envoys === 1 ? "is" : "are"} not waited for`,
    "Name their node ids under xds.envoys of the listener, or close it with allow, auth or client certificates.",
  );
}

function noPoolerLine(cluster: string): PreflightLine {
  const text = `must have a database of the cluster ${cluster}, got none: nobody's clients would wait`;
  return errorLine("poolers", text, "Configure poolers, or switch over without --seamless.");
}
