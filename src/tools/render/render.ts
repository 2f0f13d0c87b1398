import { countText } from "../../core/health/wording.ts";
import { isLocal } from "../../app/client/fetch-status.ts";
import { probeLocally } from "../../app/client/local-probe.ts";
import { requireNamedConfig } from "../../app/client/probed-status.ts";
import { featureAgentChecks, featureTargets } from "../../app/registry/render.ts";
import { withRememberedMembers } from "../../core/command/client/remembered-members.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { requireBalanced, requireMembers } from "../../core/command/render/balanced.ts";
import { parseRenderOptions } from "../../core/command/render/options.ts";
import type { FindAgentChecks, Render, RenderContext, RenderInput } from "../../core/command/render/render-target.ts";
import { targetsFromServer, targetsOf, type Targets } from "../../core/command/render/targets.ts";
import { renderEnvoy } from "./envoy.ts";
import { deployFile } from "./output/deploy-file.ts";
import { renderPatroni } from "./patroni.ts";
import { parseAlertOptions, parseJob, renderAlerts } from "./prometheus/alerts.ts";
import { nodeMetricSources, renderPrometheus } from "./prometheus/scrape-config.ts";

/** What no feature brings. */
const ownTargets: Readonly<Record<string, Render>> = {
  envoy: renderEnvoyTarget,
  prometheus: renderPrometheusTarget,
  alerts: renderAlertsTarget,
  dashboard: renderDashboardTarget,
  patroni: renderPatroniTarget,
};

/** `rolecall render KIND`: writes configuration for another program. */
export async function render(command: CommandContext, kind: string): Promise<void> {
  const { args, result, print } = command;
  const brought = featureTargets.find(
    (target) => target.kind === kind && (target.byOption === null || args.has(target.byOption)),
  );
  const write = brought === undefined ? ownTargets[kind] : await brought.load();
  if (write === undefined) throw new Error(`what renders ${kind} must be in the table`);
  const text = await write({
    command,
    loadConfig: isLocal(command) ? () => requireNamedConfig(command) : null,
    findInput: () => coveredInput(command),
    loadAgentChecks,
  });
  result.data = { kind, text };
  print(text);
}

async function loadAgentChecks(): Promise<FindAgentChecks> {
  const [bringer] = featureAgentChecks;
  return bringer === undefined ? () => null : bringer.load();
}

async function coveredInput(command: CommandContext): Promise<RenderInput> {
  const { args, result } = command;
  const targets = await findTargets(command);
  const count = targets.clusters.reduce((sum, { nodes }) => sum + nodes.length, 0);
  result.cover("clusters", "complete", {
    detail: `${countText(targets.clusters.length, "cluster")}, ${countText(count, "node")} with a database address`,
  });
  for (const { summary, silent } of targets.clusters)
    result.diagnose("RC122", {
      message: `${summary} ${targets.memberSource}`,
      ...(silent > 0 ? { severity: "warning" } : {}),
    });
  return { targets, options: parseRenderOptions(args) };
}

/** From a running rolecall; or from a configuration, one probe of ours, and the rolecall that runs it, if one does. */
async function findTargets(command: CommandContext): Promise<Targets> {
  if (!isLocal(command)) return targetsFromServer(command);
  const config = await requireNamedConfig(command);
  const probed = (await probeLocally(config, command)).overview().clusters;
  return targetsOf(command, config, await withRememberedMembers(command, config, probed));
}

async function renderEnvoyTarget(context: RenderContext): Promise<string> {
  const { targets, options } = await context.findInput();
  requireBalanced(context, targets);
  return renderEnvoy(targets, options);
}

async function renderPrometheusTarget({ command, findInput }: RenderContext): Promise<string> {
  const { args } = command;
  const { targets } = await findInput();
  warnOfUnscraped(command, targets);
  warnOfMetricsAccess(command, targets);
  const nodeMetrics = nodeMetricSources.find((source) => source === args.text("node-metrics")) ?? "none";
  if (nodeMetrics === "nodes") requireMembers(targets.clusters, "the targets of its nodes would be missing");
  return renderPrometheus(targets, { job: parseJob(args), nodeMetrics });
}

async function renderPatroniTarget({ command, findInput }: RenderContext): Promise<string> {
  return renderPatroni(command, (await findInput()).targets);
}

function renderAlertsTarget({ command: { args, result } }: RenderContext): string {
  coverNoCluster(result);
  return renderAlerts(parseAlertOptions(args));
}

function renderDashboardTarget({ command: { args, result } }: RenderContext): string {
  coverNoCluster(result);
  return deployFile("grafana/rolecall.json", [[String.raw`job=\"rolecall\"`, String.raw`job=\"${parseJob(args)}\"`]]);
}

/** Of what is the same for all clusters. */
function coverNoCluster(result: CommandContext["result"]): void {
  result.cover("clusters", "not_applicable", { detail: "the same for all clusters" });
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
