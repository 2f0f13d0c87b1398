import { isLocal } from "../../app/client/fetch-status.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";
import { CommandError } from "../../command/framework/command-error.ts";
import { renderEnvoy } from "./envoy.ts";
import { renderEnvoyXds } from "./envoy-xds.ts";
import { renderHaproxy } from "./haproxy.ts";
import { parseRenderOptions } from "./input/options.ts";
import { targetsFor, type Targets } from "./input/targets.ts";
import { deployFile } from "./output/deploy-file.ts";
import { parseAlertOptions, parseJob, renderAlerts } from "./prometheus/alerts.ts";
import { nodeMetricSources, renderPrometheus } from "./prometheus/scrape-config.ts";
import { renderPatroni } from "./patroni.ts";

/** `rolecall render`: writes configuration for other programs. */
export async function render(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const [kind = ""] = args.positionals;
  const isByPush = kind === "envoy" && args.has("xds");
  const text = isByPush
    ? await renderEnvoyXds(context)
    : (renderGeneral(context, kind) ?? renderTargets(context, kind, await coveredTargets(context)));
  result.data = { kind, text };
  print(text);
}

/** Renders what is the same for all clusters. No node is probed. @returns `null` for other kinds */
function renderGeneral(context: CommandContext, kind: string): string | null {
  const { args, result } = context;
  if (!["alerts", "dashboard"].includes(kind)) return null;
  result.cover("clusters", "not_applicable", { detail: "the same for all clusters" });
  if (kind === "alerts") return renderAlerts(parseAlertOptions(args));
  return deployFile("grafana/rolecall.json", [[String.raw`job=\"rolecall\"`, String.raw`job=\"${parseJob(args)}\"`]]);
}

async function coveredTargets(context: CommandContext): Promise<Targets> {
  const targets = await targetsFor(context);
  const count = targets.clusters.reduce((sum, { nodes }) => sum + nodes.length, 0);
  context.result.cover("clusters", "complete", {
    detail: `${targets.clusters.length} clusters, ${count} nodes with a database address`,
  });
  for (const { summary, silent } of targets.clusters)
    context.result.diagnose("RC122", {
      message: `${summary} ${targets.memberSource}`,
      ...(silent > 0 ? { severity: "warning" } : {}),
    });
  return targets;
}

function renderTargets(context: CommandContext, kind: string, targets: Targets): string {
  const { args } = context;
  const options = parseRenderOptions(args);
  switch (kind) {
    case "haproxy":
      requireBalanced(context, targets);
      requireDeclaredPools(context, targets);
      warnOfZone(context, targets, options.zone);
      return renderHaproxy(targets, options);
    case "envoy":
      requireBalanced(context, targets);
      return renderEnvoy(targets, options);
    case "prometheus": {
      warnOfUnscraped(context, targets);
      warnOfMetricsAccess(context, targets);
      const nodeMetrics = nodeMetricSources.find((source) => source === args.text("node-metrics")) ?? "none";
      if (nodeMetrics === "nodes") requireMembers(targets.clusters, "the targets of its nodes would be missing");
      return renderPrometheus(targets, { job: parseJob(args), nodeMetrics });
    }
    default:
      return renderPatroni(context, targets);
  }
}

function warnOfUnscraped({ result }: CommandContext, { clusters }: Targets): void {
  for (const message of clusters.flatMap(({ unscraped }) => unscraped))
    result.diagnose("RC120", { message, action: "Correct restapi.connect_address of the node." });
}

function warnOfMetricsAccess({ result }: CommandContext, { admins }: Targets): void {
  if (admins.length === 0)
    result.diagnose("RC120", {
      message: "the metrics of rolecall are left out: no admin listener is known",
      action: "Pass --admin HOST:PORT.",
    });
  if (admins.some(({ needsCredentials }) => needsCredentials))
    result.diagnose("RC120", {
      message: "the admin listener needs credentials, which the scrape configuration does not have",
      action: "Add basic_auth, authorization or tls_config to the job of rolecall.",
    });
}

/**
 * Makes sure that load balancers can check rolecall, and reports what their fallback, the nodes' own checks, lacks.
 * @throws CommandError (RC001) if no health listener can be checked; (RC112) if a cluster has no members or all pools
 * would be empty: a load balancer that loads such a file stops serving
 */
function requireBalanced(context: CommandContext, { clusters, edgeProblem }: Targets): void {
  const { result } = context;
  if (edgeProblem !== null) throw new CommandError("RC001", edgeProblem);
  requirePools(clusters);
  for (const { name, nodes } of clusters) {
    const without = nodes.filter(({ api }) => api === null);
    if (without.length > 0)
      result.diagnose("RC120", {
        message:
          `${name}: ${without.map((node) => node.name).join(", ")} cannot be checked while no rolecall is ready, as ` +
          "no API of the node is known; open sessions continue then, and new ones are refused",
        action: "Run two instances of rolecall, and pass --edge twice.",
      });
    if (!isLocal(context) && nodes.some(({ api }) => api?.isTls === true))
      result.diagnose("RC120", {
        message: `${name}: the CA of the nodes' certificates is unknown, so the system's CAs verify the nodes' own checks`,
        action: "Render with --config, or set ca-file (HAProxy) or trusted_ca (Envoy).",
      });
  }
}

/** @throws CommandError (RC001, RC112) if the pools of the configuration cannot be rendered as they are */
function requireDeclaredPools({ args }: CommandContext, { pools }: Targets): void {
  if (pools === null) return;
  if (pools.length === 0)
    throw new CommandError(
      "RC112",
      "Cannot render: no pool of the configuration is of these clusters",
      "Add pools for them, or select other clusters with --cluster.",
    );
  for (const option of ["read-port", "lag", "lag-time"])
    if (args.text(option) !== null)
      throw new CommandError(
        "RC001",
        `--${option} must be left out: the pools of the configuration have checks of their own, and listen on ` +
          "--write-port and the ports after it",
      );
}

/** Where no node is in the zone, all servers are alike. */
function warnOfZone({ result }: CommandContext, { clusters }: Targets, zone: string | null): void {
  for (const { name, nodes } of clusters)
    if (zone !== null && nodes.length > 0 && nodes.every((node) => node.zone !== zone))
      result.diagnose("RC169", {
        message: `no node of cluster ${name} is in zone ${zone}: all its servers are backups`,
      });
}

function requirePools(clusters: Targets["clusters"]): void {
  requireMembers(clusters, "its pools would be missing");
  if (clusters.every(({ nodes }) => nodes.length === 0))
    throw new CommandError(
      "RC112",
      "Cannot render: no node has a known database address, so the configuration would have no pool",
      "Set database for the nodes, or check that their APIs answer with rolecall doctor.",
    );
}

/**
 * Not known is not "none" (rule 16): a program that reads a file without members takes them for gone.
 * @throws CommandError (RC112) if no member of a cluster is known
 */
function requireMembers(clusters: Targets["clusters"], otherwise: string): void {
  const empty = clusters.filter(({ members }) => members === 0).map(({ name }) => name);
  if (empty.length === 0) return;
  throw new CommandError(
    "RC112",
    `Cannot render: no member is known of ${empty.join(", ")}, so ${otherwise}`,
    "Check the seeds and the scope of the cluster with rolecall doctor, or select other clusters with --cluster.",
  );
}
